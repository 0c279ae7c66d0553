package main

import (
	"io"

	"github.com/drawknife/drawknife/scheduling"
)

// certificateDocument is the file of --certificate: the proof of the plan's lower bound, to be checked by arithmetic
// alone (see scheduling.Certificate for what has to hold).
type certificateDocument struct {
	Classes []certificateClass `json:"classes"`
	Types   []certificateType  `json:"types"`
}

type certificateClass struct {
	Requests quantities `json:"requests"`
	Count    int        `json:"count"`
	Value    float64    `json:"value"`
}

type certificateType struct {
	Name        string             `json:"name"`
	Price       float64            `json:"price"`
	Multipliers map[string]float64 `json:"multipliers"`
}

// newCertificateDocument writes down a certificate; nil, which a plan without new machines has, proves a bound of 0
// with no classes and no types.
func newCertificateDocument(c *scheduling.Certificate) certificateDocument {
	doc := certificateDocument{Classes: []certificateClass{}, Types: []certificateType{}}
	if c == nil {
		return doc
	}
	for _, class := range c.Classes {
		doc.Classes = append(doc.Classes, certificateClass{
			Requests: newQuantities(class.Requests), Count: class.Count, Value: class.Value,
		})
	}
	for _, t := range c.Types {
		multipliers := make(map[string]float64, len(t.Multipliers))
		for name, value := range t.Multipliers {
			multipliers[string(name)] = value
		}
		doc.Types = append(doc.Types, certificateType{Name: t.Name, Price: t.Price, Multipliers: multipliers})
	}
	return doc
}

func (d certificateDocument) write(w io.Writer) error { return writeJSON(w, d) }
