package disruption_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// gangFleet has gangs on pairs of nodes, a fifth of them in one zone, with little on each, and as many other nodes.
func gangFleet(pairs int) *world {
	w := newWorld()
	for i := range pairs {
		zone := []string{"a", "b"}[i%2]
		gang := gangOf(fmt.Sprintf("gang-%03d", i))
		for k := range 2 {
			name := fmt.Sprintf("g-%03d-%d", i, k)
			w.node(name, "c4", holding(pod(name, asks("cpu=1200m", "memory=100Mi"))), labelled(corev1.LabelTopologyZone, zone))
			gang.Members = append(gang.Members, scheduling.PodKey{Namespace: "default", Name: name})
		}
		if i%5 == 0 {
			gang.Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}}
		}
		w.snapshot.Gangs = append(w.snapshot.Gangs, gang)
		w.node(fmt.Sprintf("o-%03d", i), "c4", holding(pod(fmt.Sprintf("o-%03d", i), asks("cpu=2500m", "memory=100Mi"))), labelled(corev1.LabelTopologyZone, zone))
	}
	return w
}

// Plans that begin with the memory of an earlier one tear no gang apart either, whether pods come, a gang comes to another node, or it has to
// be in one domain from now on; and they find gangs to move.
func TestGangsAreMovedWholeAgain(t *testing.T) {
	w := gangFleet(40)
	planner := thrifty()
	var memory *disruption.Memory
	for i, change := range []func(){
		func() {},
		func() { w.snapshot.Nodes[2].Pods = append(w.snapshot.Nodes[2].Pods, pod("new", asks("cpu=500m"))) },
		func() { // a member comes to a node of no gang
			w.snapshot.Nodes[5].Pods = append(w.snapshot.Nodes[5].Pods, pod("g-more", asks("cpu=100m")))
			w.snapshot.Gangs[0].Members = append(w.snapshot.Gangs[0].Members, scheduling.PodKey{Namespace: "default", Name: "g-more"})
		},
		func() { w.snapshot.Gangs[1].Topology = []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}} },
		func() { w.snapshot.Gangs[2].DisruptionMode = planning.GangDisruptedSingly },
	} {
		w.snapshot = copyOf(w.snapshot)
		change()
		var plan *disruption.Plan
		var err error
		if plan, memory, err = planner.PlanAgain(t.Context(), w.fleet(t), memory); err != nil {
			t.Fatal(err)
		}
		for _, why := range torn(w.snapshot, plan.Commands) {
			t.Errorf("round %d: %s", i, why)
		}
		whole := 0
		for _, cmd := range plan.Commands {
			if strings.HasPrefix(cmd.Members[0].Node, "g-") {
				whole++
			}
		}
		if whole < 5 {
			t.Errorf("round %d: %d commands move gangs", i, whole)
		}
	}
}

// copyOf is the snapshot with lists of its own: memories compare by content, and nothing may be changed in place.
func copyOf(s *scheduling.Snapshot) *scheduling.Snapshot {
	out := *s
	out.Nodes = append([]scheduling.Node{}, s.Nodes...)
	for i := range out.Nodes {
		out.Nodes[i].Pods = append([]*corev1.Pod{}, s.Nodes[i].Pods...)
	}
	out.Gangs = append([]scheduling.Gang{}, s.Gangs...)
	for i := range out.Gangs {
		out.Gangs[i].Members = append([]scheduling.PodKey{}, s.Gangs[i].Members...)
	}
	return &out
}
