package manifests_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// ConfigMaps that settings name are handed over by namespace and name, before older objects are converted; others are left out
// unread, and what is wrong with them is a problem of the input, each with its place.
func TestSettings(t *testing.T) {
	const text = `kind: ConfigMap
apiVersion: v1
metadata: {name: a, namespace: z}
data: {k: "1"}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: a}
data: {k: "2"}
---
kind: ConfigMap
apiVersion: v1
metadata: {name: b}
data: {k: 3}
`
	var got []manifests.ConfigMap
	load := func(err error) (*manifests.Result, error) {
		got = nil
		return manifests.Load([]manifests.Source{{Name: "in.yaml", Data: []byte(text)}}, manifests.Options{Settings: manifests.Settings{
			Names: []string{"a"},
			Apply: func(c manifests.ConfigMap) error { got = append(got, c); return err },
		}})
	}
	result, err := load(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []manifests.ConfigMap{
		{Position: manifests.Position{Source: "in.yaml", Document: 2, Line: 6}, Namespace: "default", Name: "a", Data: map[string]string{"k": "2"}},
		{Position: manifests.Position{Source: "in.yaml", Document: 1, Line: 1}, Namespace: "z", Name: "a", Data: map[string]string{"k": "1"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("handed over (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"ConfigMap": 1}, result.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	_, err = load(errors.Join(errors.New("first"), errors.New("second")))
	var refused *manifests.LoadError
	if !errors.As(err, &refused) || len(refused.Problems) != 4 || refused.Problems[0].Error() != "in.yaml: document 1, line 4: ConfigMap z/a: data: first" {
		t.Errorf("refused: %v", err)
	}
}
