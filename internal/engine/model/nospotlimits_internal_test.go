package model

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/spotshares"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// A cluster without limits on spot nodes pays nothing for them but a look at each pod's annotations: nothing is allocated, no offering is read, no pod
// gets another pattern.
func TestNothingIsPaidForSpotLimitsWithoutAny(t *testing.T) {
	s := &planning.Snapshot{Vocabulary: requirements.CoreVocabulary()}
	for i := range 1000 {
		s.Pods = append(s.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: fmt.Sprintf("p-%d", i), Annotations: map[string]string{"example.com/a": "b", v1.WorkloadAnnotationKey: "w"},
		}})
	}
	r := likeness.NewRoster(len(s.Pods), 0, nil, false)
	for _, pod := range s.Pods {
		r.Add(pod, false)
	}
	in := spotshares.Input{Snapshot: s, Roster: r, RequirementsOf: func(*planning.NodePool) (requirements.Set, error) {
		t.Error("a NodePool is read")
		return requirements.Set{}, nil
	}}
	allocations := testing.AllocsPerRun(10, func() {
		if x, err := spotshares.Read(in); x != nil || err != nil || x.Why(0) != "" || x.Notes() != nil || x.Splits() != nil {
			t.Error("there is an index of limits", err)
		}
	})
	if allocations > 0 || len(r.Patterns) != 1 {
		t.Errorf("%v allocations, %d patterns", allocations, len(r.Patterns))
	}
}
