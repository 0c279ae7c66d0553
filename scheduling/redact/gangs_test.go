package redact_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/redact"
)

// A gang is what it was, with other names: its source and what is private in its templates are gone.
func TestGangs(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "secret-team", Name: "secret-0"}}
	s := &scheduling.Snapshot{Pods: []*corev1.Pod{pod}, Gangs: []scheduling.Gang{{
		Namespace: "secret-team", Name: "secret-job", Source: "PodGroup secret-team/secret-job", Members: []scheduling.PodKey{{Namespace: "secret-team", Name: "secret-0"}},
		Minimum: 2, Topology: []scheduling.GangTopology{{Key: corev1.LabelTopologyZone, Policy: scheduling.GangTopologyPreferred}},
		Templates: []scheduling.GangTemplate{{Count: 2, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Args: []string{"--password=secret"}}}}}}},
	}}}
	out := redact.Anonymize(s, nil)
	var text strings.Builder
	if err := out.Encode(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text.String(), "secret") {
		t.Errorf("a name is left:\n%s", &text)
	}
	g := out.Gangs[0]
	if g.Minimum != 2 || g.Topology[0] != s.Gangs[0].Topology[0] || g.Templates[0].Count != 2 || g.Members[0].Name != out.Pods[0].Name {
		t.Errorf("it is another gang: %+v", g)
	}
	for _, snapshot := range []*scheduling.Snapshot{s, out} {
		model, err := scheduling.Compile(snapshot)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := model.Solve(context.Background(), scheduling.Query{})
		if err != nil || len(plan.Unschedulable) != 3 || plan.Gangs[0].Members != 3 {
			t.Errorf("%v: %+v", err, plan)
		}
	}
}
