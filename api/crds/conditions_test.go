package crds_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/crds"
)

// docs/differences.md: reason and message of conditions may be missing everywhere. The lists are maps by type, but for those of the
// first generation, of which node templates have none.
func TestConditions(t *testing.T) {
	plain := map[string]bool{"Machine": true, "Provisioner": true}
	none := map[string]bool{"AWSNodeTemplate/v1alpha1": true, "NodePool/v1beta1": true}
	for _, c := range slices.Concat(crds.All(), crds.WithV1Beta1(), crds.Alpha()) {
		var definition struct {
			Spec struct {
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema struct {
							Properties struct {
								Status struct {
									Properties struct {
										Conditions *struct {
											Type  string   `json:"x-kubernetes-list-type"`
											Keys  []string `json:"x-kubernetes-list-map-keys"`
											Items struct{ Required []string }
										}
									}
								}
							}
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal(c.YAML(), &definition); err != nil {
			t.Fatal(err)
		}
		if len(definition.Spec.Versions) == 0 {
			t.Errorf("%s has no version", c.Kind)
		}
		for _, v := range definition.Spec.Versions {
			name := c.Kind + "/" + v.Name
			conditions := v.Schema.OpenAPIV3Schema.Properties.Status.Properties.Conditions
			if (conditions == nil) != none[name] {
				t.Errorf("%s has conditions: %t", name, conditions != nil)
			}
			if conditions == nil {
				continue
			}
			if plain[c.Kind] != (conditions.Type == "") || !plain[c.Kind] && (conditions.Type != "map" || !slices.Equal(conditions.Keys, []string{"type"})) {
				t.Errorf("%s: the list is %q by %q", name, conditions.Type, conditions.Keys)
			}
			for _, field := range []string{"reason", "message"} {
				if slices.Contains(conditions.Items.Required, field) {
					t.Errorf("%s requires a %s", name, field)
				}
			}
		}
	}
}
