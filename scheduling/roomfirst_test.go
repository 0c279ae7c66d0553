package scheduling_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// Pods that come back to nodes from which they are known to fit, but for a twentieth of their cores, get no new node.
func TestRoomIsFoundAgain(t *testing.T) {
	seeded.Times(t, 300, func(rt *rapid.T) {
		parts := []any{nodePool("default")}
		for i := range rapid.IntRange(2, 6).Draw(rt, "nodes") {
			parts = append(parts, node(fmt.Sprintf("n%d", i)))
			cpu, memory := 3800, 15000
			for k := 0; cpu >= 100 && memory >= 300; k++ {
				takes := rapid.SampledFrom([]int{300, 700, 1100, 1700, 2300}).Draw(rt, "cpu")
				holds := rapid.SampledFrom([]int{300, 1500, 4000, 7000}).Draw(rt, "memory")
				takes, holds = min(takes, cpu), min(holds, memory)
				cpu, memory = cpu-takes, memory-holds
				parts = append(parts, pod(fmt.Sprintf("p%d-%d", i, k), requests(fmt.Sprintf("cpu=%dm", takes), fmt.Sprintf("memory=%dMi", holds))))
			}
		}
		p := solve(t, cluster(parts...))
		if len(p.NewNodes)+len(p.Unschedulable) > 0 {
			rt.Errorf("%d new nodes, %d pods without a place", len(p.NewNodes), len(p.Unschedulable))
		}
	})
}

// A spread is not broken for it: zones that pools can reach count, and the pod gets its node there.
func TestRoomInTheWrongZone(t *testing.T) {
	web := labelled("web")
	a := node("a", nodeLabel(zoneKey, "a"), bound(pod("old", web, requests("cpu=1"))))
	p := solve(t, cluster(nodePool("default"), a, pod("p", web, requests("cpu=1"), spreadBy(zoneKey, 1, "web"))))
	if len(p.NewNodes) != 1 || p.NewNodes[0].InstanceTypes[0].Zone == "a" {
		t.Errorf("planned %v", p.NewNodes)
	}
}
