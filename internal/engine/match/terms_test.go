package match_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

func term(expressions ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: expressions}
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

// Alternatives are read with the node selector in each; those that contradict themselves or say nothing are left out.
func TestTerms(t *testing.T) {
	vocabulary := requirements.CoreVocabulary()
	reader := match.Terms{Vocabulary: vocabulary.Compile(), Pods: vocabulary.Compile()}
	named := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{in("metadata.name", "n")}}
	for name, c := range map[string]struct {
		selector map[string]string
		terms    []corev1.NodeSelectorTerm
		os       corev1.OSName
		want     []string
		refused  string
	}{
		"nothing asked":           {want: []string{""}},
		"a selector":              {selector: map[string]string{"team": "a"}, want: []string{"team In [a]"}},
		"alternatives":            {selector: map[string]string{"team": "a"}, terms: []corev1.NodeSelectorTerm{term(in("disk", "x")), term(in("disk", "y"))}, want: []string{"disk In [x]; team In [a]", "disk In [y]; team In [a]"}},
		"one contradicts":         {selector: map[string]string{"team": "a"}, terms: []corev1.NodeSelectorTerm{term(in("team", "b")), term(in("disk", "y"))}, want: []string{"disk In [y]; team In [a]"}},
		"all contradict":          {selector: map[string]string{"team": "a"}, terms: []corev1.NodeSelectorTerm{term(in("team", "b"))}, refused: "contradict each other at label team"},
		"terms without anything":  {terms: []corev1.NodeSelectorTerm{{}}, refused: "matches no node"},
		"a node by name":          {terms: []corev1.NodeSelectorTerm{named}, want: []string{`"field:metadata.name" In [n]`}},
		"the system of the nodes": {os: corev1.Windows, want: []string{"kubernetes.io/os In [windows]"}},
	} {
		t.Run(name, func(t *testing.T) {
			spec := &corev1.PodSpec{NodeSelector: c.selector}
			if c.os != "" {
				spec.OS = &corev1.PodOS{Name: c.os}
			}
			if c.terms != nil {
				spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: c.terms}}}
			}
			got, err := reader.Placement(spec)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("got %v and %v, want %q", got, err, c.refused)
				}
				return
			}
			if err != nil || len(got) != len(c.want) {
				t.Fatalf("got %v and %v, want %q", got, err, c.want)
			}
			for i := range got {
				if got[i].String() != c.want[i] {
					t.Errorf("alternative %d is %q, want %q", i, got[i], c.want[i])
				}
			}
		})
	}
}

// New nodes can't be those that a term excludes by name; a term that names a node stays.
func TestOnNewNodes(t *testing.T) {
	zone := requirements.In("zone", "a")
	if got := match.New(zone, requirements.NotIn(match.NodeName, "n")).OnNewNodes(); got.String() != match.New(zone).String() {
		t.Errorf("excluded by name: %v", got)
	}
	if got := match.New(zone, requirements.In(match.NodeName, "n")).OnNewNodes(); len(got) != 2 {
		t.Errorf("named: %v", got)
	}
}
