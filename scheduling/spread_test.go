package scheduling_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// SCH-125: a zone spread reaches every zone, also when one zone is the cheapest for every instance type; the bound order
// keeps the skew at each step.
func TestSpreadReachesDearerZones(t *testing.T) {
	catalog := workload.Catalog()
	for _, it := range catalog {
		for i := range it.Offerings {
			o := &it.Offerings[i]
			o.Available = true
			for rank, zone := range workload.Zones() {
				if o.Zone == zone {
					o.Price = it.ODPrice * (1 + float64(rank)/10)
				}
			}
		}
	}
	var pods []workload.Pod
	for i := range 7 {
		pods = append(pods, workload.Pod{Name: fmt.Sprintf("web-%d", i), App: "web", CPUm: 500, MemMi: 512, ZoneSpread: true})
	}
	m, err := scheduling.Compile(workload.Snapshot(catalog, pods, nil))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Unschedulable) > 0 {
		t.Fatalf("%d pods have no place: %v", len(plan.Unschedulable), plan.Unschedulable[0].Reasons)
	}
	zoneOf := map[scheduling.PodKey]string{}
	for _, n := range plan.NewNodes {
		zones := n.Requirements.Get(corev1.LabelTopologyZone).Values()
		if len(zones) != 1 {
			t.Errorf("%s leaves zones %v open: a spread needs it decided", n.Name, zones)
		}
		for _, p := range n.Pods {
			zoneOf[p] = zones[0]
		}
	}
	counts := map[string]int{}
	for step, p := range plan.Order {
		counts[zoneOf[p]]++
		lo, hi := step, 0
		for _, zone := range workload.Zones() {
			lo, hi = min(lo, counts[zone]), max(hi, counts[zone])
		}
		if hi-lo > 1 {
			t.Errorf("after step %d the zones hold %v: the skew is above 1", step, counts)
		}
	}
}
