package simulate

import (
	"io"

	"github.com/drawknife/drawknife/commands/simulate/internal/jsonstream"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// certificateDocument is the file of --certificate: the proof of the plan's lower bound, which arithmetic alone can check (see
// scheduling.Certificate).
type certificateDocument struct {
	Classes []certificateClass `json:"classes"`
	Types   []certificateType  `json:"types"`
	// Rules and Limits are left out if there are none.
	Rules  []planning.CertificateRule `json:"rules,omitempty"`
	Limits []certificateLimit         `json:"limits,omitempty"`
}

type certificateClass struct {
	Requests quantities       `json:"requests"`
	Count    int              `json:"count"`
	Takes    map[string]int64 `json:"takes,omitempty"`
	Value    float64          `json:"value"`
}

type certificateType struct {
	Name        string             `json:"name"`
	Price       float64            `json:"price"`
	Multipliers map[string]float64 `json:"multipliers"`
	// RuleMultipliers are left out if there are none.
	RuleMultipliers map[string]float64 `json:"ruleMultipliers,omitempty"`
	// Whole is left out if the proof counts no whole pods.
	Whole []planning.CertificateCount `json:"whole,omitempty"`
}

type certificateLimit struct {
	Reservation string            `json:"reservation,omitempty"`
	Commitment  string            `json:"commitment,omitempty"`
	Amount      float64           `json:"amount"`
	Value       float64           `json:"value"`
	Types       []certificateDraw `json:"types"`
}

type certificateDraw struct {
	certificateType
	Uses float64 `json:"uses"`
}

// newCertificateDocument converts a certificate. A plan without new nodes has a nil certificate: its document proves a bound of 0, with
// no classes and no types.
func newCertificateDocument(c *scheduling.Certificate) certificateDocument {
	doc := certificateDocument{Classes: []certificateClass{}, Types: []certificateType{}}
	if c == nil {
		return doc
	}
	doc.Rules = c.Rules
	for _, class := range c.Classes {
		doc.Classes = append(doc.Classes, certificateClass{
			Requests: newQuantities(class.Requests), Count: class.Count, Takes: class.Takes, Value: class.Value,
		})
	}
	for _, t := range c.Types {
		doc.Types = append(doc.Types, newCertificateType(t))
	}
	for _, l := range c.Limits {
		limit := certificateLimit{Reservation: l.Reservation, Commitment: l.Commitment, Amount: l.Amount, Value: l.Value, Types: []certificateDraw{}}
		for _, d := range l.Types {
			limit.Types = append(limit.Types, certificateDraw{newCertificateType(d.CertificateType), d.Uses})
		}
		doc.Limits = append(doc.Limits, limit)
	}
	return doc
}

func newCertificateType(t planning.CertificateType) certificateType {
	multipliers := make(map[string]float64, len(t.Multipliers))
	for name, value := range t.Multipliers {
		multipliers[string(name)] = value
	}
	return certificateType{Name: t.Name, Price: t.Price, Multipliers: multipliers, RuleMultipliers: t.RuleMultipliers, Whole: t.Whole}
}

func (d certificateDocument) write(w io.Writer) error { return jsonstream.Write(w, d) }
