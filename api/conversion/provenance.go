package conversion

import (
	"encoding/json"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Provenance describes the original form of a converted object. It is kept in memory next to the object and never written into it.
// Without it, nothing would distinguish a NodePool that was converted from a Provisioner from another NodePool of the same name. The zero
// value means that the original is not known.
type Provenance struct {
	// Source is the kind and version of the original object.
	Source schema.GroupVersionKind `json:"source"`
	// Name is the name of the original object.
	Name string `json:"name"`
	// Residue has the fields of the source that the object can't contain, by path. A provider may use them when it reads live objects; a
	// rewritten manifest does not contain them.
	Residue []Residual `json:"residue,omitempty"`
}

// Residual is one field of the source that the object can't contain.
type Residual struct {
	// Path of the field in the source: "spec.launchTemplate".
	Path string `json:"path"`
	// Value as JSON.
	Value json.RawMessage `json:"value"`
}

// FirstGeneration reports whether the object was created as Provisioner, Machine or AWSNodeTemplate. Names of these kinds are separate:
// objects of later kinds may have the same names.
func (p Provenance) FirstGeneration() bool {
	return slices.Contains([]string{"Provisioner", "Machine", "AWSNodeTemplate"}, p.Source.Kind)
}

// Keep adds a field to the residue. It leaves out a value that can't be written as JSON.
func (p *Provenance) Keep(path string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		return
	}
	p.Residue = append(p.Residue, Residual{Path: path, Value: text})
}

// Restore decodes the residual field of the given path into *value, and reports whether the field exists and could be decoded. It refuses a
// residual with a quantity that would take minutes to parse, because a stored Provenance may come from another program.
func (p Provenance) Restore(path string, value any) bool {
	for _, r := range p.Residue {
		if r.Path == path {
			return quantities.CheckJSON(r.Value, reflect.TypeOf(value)) == nil && json.Unmarshal(r.Value, value) == nil
		}
	}
	return false
}
