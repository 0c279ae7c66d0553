package crds

import (
	"testing"

	"github.com/drawknife/drawknife/api/crds"
)

// An API server takes the definitions: their schemas are structural, their rules compile and can't cost too much.
func TestDefinitionsAreAccepted(t *testing.T) {
	for _, c := range crds.All() {
		t.Run(c.Kind, func(t *testing.T) {
			crd, err := Read(c.YAML())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range Accept(t.Context(), crd) {
				t.Error(e)
			}
		})
	}
}
