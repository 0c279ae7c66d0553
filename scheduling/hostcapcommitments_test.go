package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/planvalidator"
)

// A commitment covers the node of one workload, and the other workload, which must not share a node with it, is what is left to
// pack: the rule about single nodes still holds there, and is still an amount.
func TestCommitmentLeavesOneWorkloadOfARule(t *testing.T) {
	it := sold(typeOf("m", 0, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 1))
	s := cluster(it,
		pod("a", labelled("w"), awayFrom(corev1.LabelHostname, "w"), requests("cpu=3")),
		pod("b", labelled("w"), awayFrom(corev1.LabelHostname, "w"), requests("cpu=1")),
		pod("c", labelled("w"), awayFrom(corev1.LabelHostname, "w"), requests("cpu=1")))
	s.CostModel = decoded(t, `terms: [{name: t, source: s, commitment: {amount: 1}}]`)
	p := solve(t, s)
	if len(p.NewNodes) != 3 || len(p.Unschedulable) > 0 {
		t.Errorf("%d new nodes and %d pods without one, want 3 and 0", len(p.NewNodes), len(p.Unschedulable))
	}
	for _, fault := range planvalidator.Check(s, p) {
		t.Error(fault)
	}
}
