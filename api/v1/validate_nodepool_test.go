package v1

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// checkErrors wants exactly one error, at the path and holding the text; none when the path is empty.
func checkErrors(t *testing.T, errs field.ErrorList, wantPath, wantText string) {
	t.Helper()
	if wantPath == "" {
		if len(errs) > 0 {
			t.Errorf("refused: %v", errs.ToAggregate())
		}
		return
	}
	if len(errs) != 1 || errs[0].Field != wantPath || !strings.Contains(errs[0].Error(), wantText) {
		t.Errorf("got %v, want one error at %s saying %q", errs, wantPath, wantText)
	}
}

func readPool(t *testing.T, file string) *NodePool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	pool := &NodePool{}
	if err := yaml.UnmarshalStrict(text, pool); err != nil {
		t.Fatal(err)
	}
	return pool
}

func mustDuration(t *testing.T, text string) *Duration {
	t.Helper()
	d, err := ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return &d
}

func labels(n int) map[string]string {
	m := make(map[string]string, n)
	for i := range n {
		m[fmt.Sprintf("label-%d", i)] = ""
	}
	return m
}

func TestPoolValidation(t *testing.T) {
	const template = "spec.template.spec"
	for _, tc := range []struct {
		name   string
		change func(*NodePool)
		// path of the one error; none when empty.
		path, text string
	}{
		{"as it is", func(*NodePool) {}, "", ""},
		{"no name", func(p *NodePool) { p.Name = "" }, "metadata.name", "give the object a name"},
		{"generated name", func(p *NodePool) { p.Name, p.GenerateName = "", "pool-" }, "", ""},
		{"name that is none", func(p *NodePool) { p.Name = "Not A Name" }, "metadata.name", "not an object name"},
		{"name too long for a label", func(p *NodePool) { p.Name = strings.Repeat("a", 64) }, "metadata.name", "karpenter.sh/nodepool"},

		{"PRV-002 100 labels", func(p *NodePool) { p.Spec.Template.Labels = labels(100) }, "", ""},
		{"PRV-002 101 labels", func(p *NodePool) { p.Spec.Template.Labels = labels(101) }, "spec.template.metadata.labels", "remove 1"},
		{"API-035 label value", func(p *NodePool) { p.Spec.Template.Labels = map[string]string{"a": "b c"} }, "spec.template.metadata.labels[a]", "not a label value"},
		{"API-035 label key", func(p *NodePool) { p.Spec.Template.Labels = map[string]string{"a b": "c"} }, "spec.template.metadata.labels[a b]", "not a label key"},
		{"API-035 annotations are not checked", func(p *NodePool) { p.Spec.Template.Annotations = map[string]string{"a b": "\n"} }, "", ""},

		{"PRV-002 requirements forgotten", func(p *NodePool) { p.Spec.Template.Spec.Requirements = nil }, template + ".requirements", "write []"},
		{"PRV-002 requirements empty", func(p *NodePool) {
			p.Spec.Template.Spec.Requirements = []NodeSelectorRequirementWithMinValues{}
		}, "", ""},
		{"PRV-002 101 requirements", func(p *NodePool) {
			p.Spec.Template.Spec.Requirements = make([]NodeSelectorRequirementWithMinValues, 101)
		}, template + ".requirements", "remove 1"},
		{"API-024 minValues 0", func(p *NodePool) { p.Spec.Template.Spec.Requirements[1].MinValues = new(int) }, template + ".requirements[1].minValues", "between 1 and 50"},
		{"API-024 minValues 50", func(p *NodePool) { p.Spec.Template.Spec.Requirements[1].MinValues = ptr(50) }, "", ""},
		{"API-024 minValues 51", func(p *NodePool) { p.Spec.Template.Spec.Requirements[1].MinValues = ptr(51) }, template + ".requirements[1].minValues", "between 1 and 50"},

		{"API-178 no group", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Group = "" }, template + ".nodeClassRef.group", "karpenter.k8s.aws"},
		{"API-178 group with version", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Group = "karpenter.k8s.aws/v1" }, template + ".nodeClassRef.group", "leave out the /"},
		{"API-178 no kind", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Kind = "" }, template + ".nodeClassRef.kind", "EC2NodeClass"},
		{"API-178 no name", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "" }, template + ".nodeClassRef.name", "name the node class"},

		{"PRV-002 expireAfter negative", func(p *NodePool) { p.Spec.Template.Spec.ExpireAfter = NillableDuration{text: "-1h", span: -1} }, template + ".expireAfter", "or Never"},
		{"PRV-002 expireAfter with a fraction", func(p *NodePool) { p.Spec.Template.Spec.ExpireAfter = NillableDuration{text: "1.5h", span: 1} }, template + ".expireAfter", "whole hours"},
		{"PRV-002 expireAfter Never", func(p *NodePool) { p.Spec.Template.Spec.ExpireAfter = Never() }, "", ""},
		{"DIS-011 consolidateAfter in milliseconds", func(p *NodePool) { p.Spec.Disruption.ConsolidateAfter = NillableDuration{text: "5ms", span: 5} }, "spec.disruption.consolidateAfter", "write it like 90s"},
		{"API-183 consolidateAfter Never", func(p *NodePool) { p.Spec.Disruption.ConsolidateAfter = Never() }, "", ""},
		{"API-180 terminationGracePeriod negative", func(p *NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = mustDuration(t, "-1h") }, template + ".terminationGracePeriod", "leave it out to wait for ever"},
		{"API-180 terminationGracePeriod 0s", func(p *NodePool) { p.Spec.Template.Spec.TerminationGracePeriod = mustDuration(t, "0s") }, "", ""},

		{"DIS-010 unknown policy", func(p *NodePool) { p.Spec.Disruption.ConsolidationPolicy = "WhenUnderutilized" }, "spec.disruption.consolidationPolicy", "WhenEmptyOrUnderutilized"},
		{"PRV-002 51 budgets", func(p *NodePool) { p.Spec.Disruption.Budgets = make([]Budget, 51) }, "spec.disruption.budgets", "remove 1"},
		{"PRV-002 50 budgets", func(p *NodePool) { p.Spec.Disruption.Budgets = make([]Budget, 50) }, "", ""},

		{"PRV-002 negative limit", func(p *NodePool) { p.Spec.Limits["cpu"] = resource.MustParse("-1") }, "spec.limits[cpu]", "must not be negative"},
		{"absurd limit", func(p *NodePool) { p.Spec.Limits["cpu"] = resource.MustParse("1e99999999") }, "spec.limits[cpu]", "check the unit"},
		{"absurd number of nodes", func(p *NodePool) { p.Spec.Limits["nodes"] = resource.MustParse("1e99999999") }, "spec.limits[nodes]", "check the unit"},
		{"API-188 half a node", func(p *NodePool) { p.Spec.Limits["nodes"] = resource.MustParse("1500m") }, "spec.limits[nodes]", "whole number"},
		{"limit that is no resource", func(p *NodePool) { p.Spec.Limits["c p u"] = resource.MustParse("1") }, "spec.limits[c p u]", "not a resource name"},
		{"PRV-002 weight 0", func(p *NodePool) { p.Spec.Weight = new(int32) }, "spec.weight", "between 1 and 100"},
		{"PRV-002 weight 100", func(p *NodePool) { p.Spec.Weight = ptr(int32(100)) }, "", ""},
		{"PRV-002 weight 101", func(p *NodePool) { p.Spec.Weight = ptr(int32(101)) }, "spec.weight", "between 1 and 100"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pool := readPool(t, "nodepool-full.yaml")
			tc.change(pool)
			checkErrors(t, pool.Validate(), tc.path, tc.text)
		})
	}
}

// PRV-002, API-190, DIS-017.
func TestStaticPoolValidation(t *testing.T) {
	for _, tc := range []struct {
		name       string
		change     func(*NodePool)
		path, text string
	}{
		{"limited by nodes alone", func(*NodePool) {}, "", ""},
		{"no replicas wanted", func(p *NodePool) { p.Spec.Replicas = new(int64) }, "", ""},
		{"negative", func(p *NodePool) { p.Spec.Replicas = ptr(int64(-1)) }, "spec.replicas", "must not be negative"},
		{"weight", func(p *NodePool) { p.Spec.Weight = ptr(int32(5)) }, "spec.weight", "remove weight or replicas"},
		{"another limit", func(p *NodePool) { p.Spec.Limits["cpu"] = resource.MustParse("1") }, "spec.limits[cpu]", "remove this limit or replicas"},
		{"consolidation is ignored, not refused", func(p *NodePool) { p.Spec.Disruption.ConsolidationPolicy = "WhenEmpty" }, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pool := readPool(t, "nodepool-static.yaml")
			tc.change(pool)
			checkErrors(t, pool.Validate(), tc.path, tc.text)
		})
	}
}

// PRV-002, API-178, API-190: what must not change.
func TestPoolUpdateValidation(t *testing.T) {
	for _, tc := range []struct {
		name       string
		change     func(*NodePool)
		path, text string
	}{
		{"nothing", func(*NodePool) {}, "", ""},
		{"name of the node class", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "other" }, "", ""},
		{"group of the node class", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Group = "other" }, "spec.template.spec.nodeClassRef.group", `must stay "karpenter.k8s.aws"`},
		{"kind of the node class", func(p *NodePool) { p.Spec.Template.Spec.NodeClassRef.Kind = "Other" }, "spec.template.spec.nodeClassRef.kind", `must stay "EC2NodeClass"`},
		{"number of replicas", func(p *NodePool) { p.Spec.Replicas = ptr(int64(3)) }, "", ""},
		{"replicas removed", func(p *NodePool) { p.Spec.Replicas = nil }, "spec.replicas", "make another NodePool"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			old := readPool(t, "nodepool-static.yaml")
			pool := old.DeepCopy()
			tc.change(pool)
			checkErrors(t, pool.ValidateUpdate(old), tc.path, tc.text)
		})
	}
	dynamic := readPool(t, "nodepool-full.yaml")
	static := dynamic.DeepCopy()
	static.Spec.Weight, static.Spec.Limits, static.Spec.Replicas = nil, nil, ptr(int64(1))
	checkErrors(t, static.ValidateUpdate(dynamic), "spec.replicas", "make another NodePool")
}

// API-028 to API-030, SCH-013.
func TestTaintValidation(t *testing.T) {
	taint := func(key, value, effect string) corev1.Taint {
		return corev1.Taint{Key: key, Value: value, Effect: corev1.TaintEffect(effect)}
	}
	for _, tc := range []struct {
		name            string
		taints, startup []corev1.Taint
		path, text      string
	}{
		{"each effect once", []corev1.Taint{taint("a", "", "NoSchedule"), taint("a", "", "PreferNoSchedule"), taint("a", "", "NoExecute")}, nil, "", ""},
		{"no effect", nil, []corev1.Taint{taint("a", "", "")}, "x.startupTaints[0].effect", "write NoSchedule, PreferNoSchedule or NoExecute"},
		{"no key", []corev1.Taint{taint("", "", "NoSchedule")}, nil, "x.taints[0].key", "needs a key"},
		{"key that is none", []corev1.Taint{taint("a b", "", "NoSchedule")}, nil, "x.taints[0].key", "not a taint key"},
		{"value that is none", nil, []corev1.Taint{taint("a", "b c", "NoSchedule")}, "x.startupTaints[0].value", "not a taint value"},
		{"value with a prefix, which no node takes", []corev1.Taint{taint("a", "b.c/d", "NoSchedule")}, nil, "x.taints[0].value", "not a taint value"},
		{"unknown effect", []corev1.Taint{taint("a", "", "NoRun")}, nil, "x.taints[0].effect", "NoExecute"},
		{"twice in one list", []corev1.Taint{taint("a", "1", "NoSchedule"), taint("a", "2", "NoSchedule")}, nil, "x.taints[1]", "x.taints[0]"},
		{"once in each list", []corev1.Taint{taint("a", "", "NoSchedule")}, []corev1.Taint{taint("a", "", "NoSchedule")}, "x.startupTaints[0]", "remove it here or at x.taints[0]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			checkErrors(t, ValidateTaints(tc.taints, tc.startup, field.NewPath("x")), tc.path, tc.text)
		})
	}
}

func TestAllErrorsAreReportedInTheSameOrder(t *testing.T) {
	pool := &NodePool{}
	pool.Spec.Template.Labels = map[string]string{"b b": "", "a a": "", "c c": ""}
	pool.Spec.Weight = ptr(int32(-1))
	first := pool.Validate().ToAggregate().Error()
	for _, want := range []string{"metadata.name", "labels[a a]", "labels[b b]", "labels[c c]", "requirements", "nodeClassRef.group", "nodeClassRef.kind", "nodeClassRef.name", "spec.weight"} {
		if !strings.Contains(first, want) {
			t.Errorf("nothing said about %s in %s", want, first)
		}
	}
	if n := strings.Index(first, "labels[a a]"); n > strings.Index(first, "labels[b b]") {
		t.Error("labels are not judged in the order of their keys")
	}
	again := slices.Repeat([]*NodePool{pool}, 20)
	for _, p := range again {
		if text := p.Validate().ToAggregate().Error(); text != first {
			t.Fatalf("order changed:\n%s\n%s", first, text)
		}
	}
}

func ptr[T any](v T) *T { return &v }
