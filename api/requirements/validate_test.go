package requirements_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// problem is a field error boiled down: its type, its field, and a part of its sentence.
type problem struct {
	kind  field.ErrorType
	path  string
	words string
}

func expectProblems(t *testing.T, got field.ErrorList, want []problem) {
	t.Helper()
	var fields, wanted []string
	for _, e := range got {
		fields = append(fields, string(e.Type)+" "+e.Field)
	}
	for _, p := range want {
		wanted = append(wanted, string(p.kind)+" "+p.path)
	}
	if diff := cmp.Diff(wanted, fields); diff != "" {
		t.Fatalf("errors (-want +got):\n%s\n%v", diff, got)
	}
	for i, p := range want {
		if !strings.Contains(got[i].Error(), p.words) {
			t.Errorf("%v\nshould say %q", got[i], p.words)
		}
	}
}

func TestSCH011RequirementValidation(t *testing.T) {
	long := strings.Repeat("x", 64)
	tests := []struct {
		name  string
		entry v1.NodeSelectorRequirementWithMinValues
		want  []problem
	}{
		{"valid", withMin(entry("In", "a", "b"), 2), nil},
		{"valid bound", entry("Gte", "0"), nil},
		{"valid Exists with minValues", withMin(entry("Exists"), 50), nil},
		{"well-known key of a restricted domain", v1.NodeSelectorRequirementWithMinValues{Key: "karpenter.sh/nodepool", Operator: "Exists"}, nil},
		{"alias", v1.NodeSelectorRequirementWithMinValues{Key: "beta.kubernetes.io/os", Operator: "Exists"}, nil},
		{"unknown operator", entry("Like", "a"), []problem{{field.ErrorTypeInvalid, "r.operator", "use In, NotIn"}}},
		{"restricted key", v1.NodeSelectorRequirementWithMinValues{Key: "karpenter.sh/custom", Operator: "Exists"},
			[]problem{{field.ErrorTypeForbidden, "r.key", `domain "karpenter.sh" is reserved`}}},
		{"alias of a restricted key", v1.NodeSelectorRequirementWithMinValues{Key: "alias.example/host", Operator: "Exists"},
			[]problem{{field.ErrorTypeForbidden, "r.key", "kubernetes.io/hostname"}}},
		{"no qualified name", v1.NodeSelectorRequirementWithMinValues{Key: "a/b/c", Operator: "Exists"},
			[]problem{{field.ErrorTypeInvalid, "r.key", "not a label key"}}},
		{"empty key", v1.NodeSelectorRequirementWithMinValues{Operator: "Exists"}, []problem{{field.ErrorTypeInvalid, "r.key", "not a label key"}}},
		{"illegal values", entry("NotIn", "fine", "not fine", long),
			[]problem{{field.ErrorTypeInvalid, "r.values[1]", "not a label value"}, {field.ErrorTypeInvalid, "r.values[2]", "63"}}},
		{"In without values", entry("In"), []problem{{field.ErrorTypeRequired, "r.values", "needs at least one value"}}},
		{"In with fewer values than minValues", withMin(entry("In", "a", "b"), 3), []problem{{field.ErrorTypeInvalid, "r.minValues", "only 2 different values"}}},
		{"In with repeated values", withMin(entry("In", "a", "a"), 2), []problem{{field.ErrorTypeInvalid, "r.minValues", "only 1 different values"}}},
		{"minValues of zero", withMin(entry("Exists"), 0), []problem{{field.ErrorTypeInvalid, "r.minValues", "between 1 and 50"}}},
		{"minValues too large", withMin(entry("Exists"), 51), []problem{{field.ErrorTypeInvalid, "r.minValues", "between 1 and 50"}}},
		{"Gt without value", entry("Gt"), []problem{{field.ErrorTypeRequired, "r.values", "exactly one value"}}},
		{"Lt with two values", entry("Lt", "1", "2"), []problem{{field.ErrorTypeInvalid, "r.values", "exactly one value"}}},
		{"Gte with a word", entry("Gte", "many"), []problem{{field.ErrorTypeInvalid, "r.values", "non-negative integer"}}},
		{"Lte with a negative integer", entry("Lte", "-1"),
			[]problem{{field.ErrorTypeInvalid, "r.values", "non-negative integer"}, {field.ErrorTypeInvalid, "r.values[0]", "not a label value"}}},
		{"several faults at once", v1.NodeSelectorRequirementWithMinValues{Key: "karpenter.sh/custom", Operator: "In", MinValues: ptr(0)}, []problem{
			{field.ErrorTypeForbidden, "r.key", "restricted"}, {field.ErrorTypeRequired, "r.values", "DoesNotExist"}, {field.ErrorTypeInvalid, "r.minValues", "between"}}},
	}
	lookup := requirements.CoreVocabulary().Merge(requirements.Vocabulary{Aliases: map[string]string{"alias.example/host": "kubernetes.io/hostname"}}).Compile()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expectProblems(t, requirements.ValidateRequirement(tt.entry, lookup, field.NewPath("r")), tt.want)
		})
	}
}

func TestSCH012CapacityTypes(t *testing.T) {
	capacity := func(minValues *int, op requirements.Operator, values ...string) v1.NodeSelectorRequirementWithMinValues {
		return v1.NodeSelectorRequirementWithMinValues{Key: "karpenter.sh/capacity-type", Operator: op, Values: values, MinValues: minValues}
	}
	tests := []struct {
		name     string
		entry    v1.NodeSelectorRequirementWithMinValues
		want     []problem
		warnings []string
	}{
		{"all known", capacity(ptr(3), "In", "spot", "on-demand", "reserved"), nil, nil},
		{"none known", capacity(nil, "In", "on-spot"), []problem{{field.ErrorTypeInvalid, "r[0].values", "use on-demand, reserved, spot"}},
			[]string{`r[0].values[0]: "on-spot" is no capacity type and is ignored; capacity types are on-demand, reserved, spot`}},
		{"a mixture is accepted with a warning", capacity(nil, "In", "spot", "cheap"), nil,
			[]string{`r[0].values[1]: "cheap" is no capacity type and is ignored; capacity types are on-demand, reserved, spot`}},
		{"fewer known than minValues", capacity(ptr(2), "In", "spot", "cheap"), []problem{{field.ErrorTypeInvalid, "r[0].minValues", "only 1 of the values"}},
			[]string{`r[0].values[1]: "cheap" is no capacity type and is ignored; capacity types are on-demand, reserved, spot`}},
		{"other operators are not looked at", capacity(nil, "NotIn", "cheap"), nil, nil},
		{"other keys are not looked at", entry("In", "cheap"), nil, nil},
	}
	lookup := requirements.CoreVocabulary().Compile()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			entries := []v1.NodeSelectorRequirementWithMinValues{tt.entry}
			expectProblems(t, requirements.ValidateRequirements(entries, lookup, field.NewPath("r")), tt.want)
			if diff := cmp.Diff(tt.warnings, requirements.RequirementWarnings(entries, lookup, field.NewPath("r"))); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSCH013NodePoolValidation(t *testing.T) {
	pool := &v1.NodePool{}
	template := &pool.Spec.Template
	template.Labels = map[string]string{
		"team":                  "a",
		"kubernetes.io/arch":    "arm64",
		"bad value":             "x",
		"example.com/value":     "not fine",
		"karpenter.sh/custom":   "x",
		"karpenter.sh/nodepool": "mine",
		// API-023, API-279: nor is the label of the first generation theirs.
		"karpenter.sh/provisioner-name": "mine",
		"karpenter.sh/capacity-type":    "spot",
	}
	template.Spec.Taints = []corev1.Taint{
		{Key: "example.com/special", Value: "yes", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/special", Value: "no", Effect: corev1.TaintEffectNoExecute},
		{Key: "example.com/special", Effect: "NoWay"},
		{Key: "", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/empty-effect"},
	}
	template.Spec.StartupTaints = []corev1.Taint{
		{Key: "example.com/special", Effect: corev1.TaintEffectNoSchedule},
		{Key: "example.com/startup", Value: "not fine", Effect: corev1.TaintEffectPreferNoSchedule},
	}
	template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		entry("In", "a"),
		entry("In"),
		{Key: "karpenter.sh/nodepool", Operator: "Exists"},
	}
	expectProblems(t, requirements.ValidateNodePool(pool, requirements.CoreVocabulary().Compile()), []problem{
		{field.ErrorTypeInvalid, "spec.template.metadata.labels[bad value]", "not a label key"},
		{field.ErrorTypeInvalid, "spec.template.metadata.labels[example.com/value]", "not a label value"},
		{field.ErrorTypeForbidden, "spec.template.metadata.labels[karpenter.sh/custom]", "restricted"},
		{field.ErrorTypeForbidden, "spec.template.metadata.labels[karpenter.sh/nodepool]", "leave it out"},
		{field.ErrorTypeForbidden, "spec.template.metadata.labels[karpenter.sh/provisioner-name]", "leave it out"},
		{field.ErrorTypeNotSupported, "spec.template.spec.taints[2].effect", "NoSchedule"},
		{field.ErrorTypeRequired, "spec.template.spec.taints[3].key", "needs a key"},
		{field.ErrorTypeRequired, "spec.template.spec.taints[4].effect", "NoSchedule, PreferNoSchedule or NoExecute"},
		{field.ErrorTypeDuplicate, "spec.template.spec.startupTaints[0]", "spec.template.spec.taints[0]"},
		{field.ErrorTypeInvalid, "spec.template.spec.startupTaints[1].value", "not a taint value"},
		{field.ErrorTypeRequired, "spec.template.spec.requirements[1].values", "at least one value"},
		{field.ErrorTypeForbidden, "spec.template.spec.requirements[2].key", "the pool's own name"},
	})
	expectProblems(t, requirements.ValidateNodePool(&v1.NodePool{}, requirements.CoreVocabulary().Compile()), nil)
}

func TestPoolFaultsThatTwoValidationsSeeAreSaidOnce(t *testing.T) {
	pool := &v1.NodePool{}
	pool.Name = "default"
	pool.Spec.Template.Labels = map[string]string{"bad key": "bad value"}
	pool.Spec.Template.Spec.NodeClassRef = v1.NodeClassReference{Group: "cloud.example", Kind: "Class", Name: "default"}
	pool.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "bad key", Effect: corev1.TaintEffectNoSchedule}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{withMin(entry("Exists"), 51)}
	errs := append(pool.Validate(), requirements.ValidateNodePool(pool, nil)...)
	if got := len(errs.ToAggregate().Errors()); got != 4 || len(errs) != 8 {
		t.Errorf("%d sentences of %d errors, want 4 of 8:\n%v", got, len(errs), errs.ToAggregate())
	}
}

func TestSCH014PodValidation(t *testing.T) {
	expression := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	spec := &corev1.PodSpec{
		NodeSelector: map[string]string{"team": "a", "karpenter.sh/custom": "x", "example.com/value": "not fine", "karpenter.sh/nodepool": "default"},
		Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{expression("team", "In", "a"), expression("team", "In"), expression("cpu", "Gte", "3")}},
				{
					MatchExpressions: []corev1.NodeSelectorRequirement{expression("kubernetes.io/hostname", "In", "node-1")},
					MatchFields:      []corev1.NodeSelectorRequirement{expression("metadata.name", "In", "node-1"), expression("metadata.name", "NotIn", "node-2")},
				},
				{MatchFields: []corev1.NodeSelectorRequirement{expression("spec.unschedulable", "In", "true")}},
				{MatchFields: []corev1.NodeSelectorRequirement{expression("metadata.name", "Exists")}},
				{MatchFields: []corev1.NodeSelectorRequirement{expression("metadata.name", "In", "node-1", "node-2")}},
			}},
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expression("karpenter.sh/custom", "Like")}}},
			},
		}},
	}
	const terms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	lookup := requirements.CoreVocabulary().Compile()
	expectProblems(t, requirements.ValidatePodSpec(spec, lookup, field.NewPath("spec")), []problem{
		{field.ErrorTypeInvalid, "spec.nodeSelector[example.com/value]", "not a label value"},
		{field.ErrorTypeForbidden, "spec.nodeSelector[karpenter.sh/custom]", "restricted"},
		{field.ErrorTypeRequired, terms + "[0].matchExpressions[1].values", "at least one value"},
		{field.ErrorTypeInvalid, terms + "[0].matchExpressions[2].operator", "write Gt with a value one less"},
		{field.ErrorTypeForbidden, terms + "[1].matchExpressions[0].key", "kubernetes.io/hostname"},
		{field.ErrorTypeNotSupported, terms + "[2].matchFields[0].key", "metadata.name"},
		{field.ErrorTypeNotSupported, terms + "[3].matchFields[0].operator", "NotIn"},
		{field.ErrorTypeInvalid, terms + "[4].matchFields[0].values", "one name"},
	})
	expectProblems(t, requirements.ValidatePodSpec(&corev1.PodSpec{}, lookup, field.NewPath("spec")), nil)
}
