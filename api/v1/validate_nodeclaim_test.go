package v1

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

func readClaim(t *testing.T) *NodeClaim {
	t.Helper()
	text, err := os.ReadFile("testdata/nodeclaim.yaml")
	if err != nil {
		t.Fatal(err)
	}
	claim := &NodeClaim{}
	if err := yaml.UnmarshalStrict(text, claim); err != nil {
		t.Fatal(err)
	}
	return claim
}

// PRV-005, API-194, API-195.
func TestClaimValidation(t *testing.T) {
	for _, tc := range []struct {
		name       string
		change     func(*NodeClaim)
		path, text string
	}{
		{"as it is", func(*NodeClaim) {}, "", ""},
		{"made by hand, without a pool", func(c *NodeClaim) { c.Labels = nil }, "", ""},
		{"no name", func(c *NodeClaim) { c.Name = "" }, "metadata.name", "give the object a name"},
		{"label value", func(c *NodeClaim) { c.Labels["a"] = "b c" }, "metadata.labels[a]", "not a label value"},
		{"taint", func(c *NodeClaim) { c.Spec.Taints[0].Effect = "Often" }, "spec.taints[0].effect", "NoSchedule"},
		{"requirements forgotten", func(c *NodeClaim) { c.Spec.Requirements = nil }, "spec.requirements", "write []"},
		{"101 requirements", func(c *NodeClaim) { c.Spec.Requirements = make([]NodeSelectorRequirementWithMinValues, 101) }, "spec.requirements", "remove 1"},
		{"negative request", func(c *NodeClaim) { c.Spec.Resources.Requests["cpu"] = resource.MustParse("-1") }, "spec.resources.requests[cpu]", "must not be negative"},
		{"no node class", func(c *NodeClaim) { c.Spec.NodeClassRef.Name = "" }, "spec.nodeClassRef.name", "name the node class"},
		{"grace period", func(c *NodeClaim) { c.Spec.TerminationGracePeriod = mustDuration(t, "1500ms") }, "spec.terminationGracePeriod", "whole hours"},
		{"expiry", func(c *NodeClaim) { c.Spec.ExpireAfter = NillableDuration{text: "-1s", span: -1} }, "spec.expireAfter", "not negative"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			claim := readClaim(t)
			tc.change(claim)
			checkErrors(t, claim.Validate(), tc.path, tc.text)
		})
	}
}

// PRV-005, API-196, DIS-018.
func TestClaimSpecIsImmutable(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(*NodeClaim)
		refused bool
	}{
		{"status and labels may change", func(c *NodeClaim) { c.Status.NodeName, c.Labels["a"] = "x", "b" }, false},
		{"another form of one quantity", func(c *NodeClaim) { c.Spec.Resources.Requests["cpu"] = resource.MustParse("1.5") }, false},
		{"another form of one duration", func(c *NodeClaim) { c.Spec.TerminationGracePeriod = mustDuration(t, "1800s") }, false},
		{"request", func(c *NodeClaim) { c.Spec.Resources.Requests["cpu"] = resource.MustParse("2") }, true},
		{"duration", func(c *NodeClaim) { c.Spec.TerminationGracePeriod = mustDuration(t, "31m") }, true},
		{"expiry", func(c *NodeClaim) { c.Spec.ExpireAfter = mustNillable(t, "720h") }, true},
		{"taint", func(c *NodeClaim) { c.Spec.Taints = []corev1.Taint{} }, true},
		{"order of values", func(c *NodeClaim) {
			v := c.Spec.Requirements[0].Values
			v[0], v[1] = v[1], v[0]
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old, claim := readClaim(t), readClaim(t)
			tc.change(claim)
			errs := claim.ValidateUpdate(old)
			if refused := len(errs) > 0; refused != tc.refused {
				t.Fatalf("refused = %v (%v), want %v", refused, errs, tc.refused)
			}
			if tc.refused && (errs[0].Field != "spec" || !strings.Contains(errs[0].Error(), "make another")) {
				t.Errorf("error is %v", errs)
			}
		})
	}
}
