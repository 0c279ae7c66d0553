package conversion

import (
	"encoding/json"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Provenance describes the original form of a converted object. It is kept next to the object, in memory, and is never written into
// it: a hub object alone doesn't tell a Provisioner's pool from a NodePool of the same name. The zero value says nothing.
type Provenance struct {
	// Source is the kind and version the object was read as.
	Source schema.GroupVersionKind `json:"source"`
	// Name it was read with.
	Name string `json:"name"`
	// Residue are the fields of the source that have no place in the object, by path. A provider may act on them while a
	// live object is read; a rewritten manifest drops them.
	Residue []Residual `json:"residue,omitempty"`
}

// Residual is one field that has no place.
type Residual struct {
	// Path of the field in the source: "spec.launchTemplate".
	Path string `json:"path"`
	// Value as JSON.
	Value json.RawMessage `json:"value"`
}

// FirstGeneration reports whether the object was created as Provisioner, Machine or AWSNodeTemplate. Their names are separate: later
// objects may have the same names.
func (p Provenance) FirstGeneration() bool {
	return slices.Contains([]string{"Provisioner", "Machine", "AWSNodeTemplate"}, p.Source.Kind)
}

// Keep adds a field to the residue. A value that can't be written as JSON is left out.
func (p *Provenance) Keep(path string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		return
	}
	p.Residue = append(p.Residue, Residual{Path: path, Value: text})
}

// Restore reads the residual of a path into value, and reports whether there is one that can be. One with a quantity that would
// take minutes to read can't be: a Provenance may have been stored where others write.
func (p Provenance) Restore(path string, value any) bool {
	for _, r := range p.Residue {
		if r.Path == path {
			return quantities.CheckJSON(r.Value, reflect.TypeOf(value)) == nil && json.Unmarshal(r.Value, value) == nil
		}
	}
	return false
}
