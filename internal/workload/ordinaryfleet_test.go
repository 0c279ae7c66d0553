package workload

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestOrdinaryFleet(t *testing.T) {
	for _, name := range []string{"m5-none-3z-1-60n", "m5+c5+r5-both-6z-2-200n", "m5-both-3z-4-3n"} {
		f, err := ParseOrdinaryFleet(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if f.Name() != name || len(s.Nodes) != f.Nodes {
			t.Errorf("%s calls itself %s and has %d nodes", name, f.Name(), len(s.Nodes))
		}
		var have, asked [2]int64
		zones := map[string]map[string]int{}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			have[0] += n.Object.Status.Allocatable.Cpu().MilliValue()
			have[1] += n.Object.Status.Allocatable.Memory().Value()
			apart := map[string]bool{}
			for _, p := range n.Pods {
				asked[0] += p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
				asked[1] += p.Spec.Containers[0].Resources.Requests.Memory().Value()
				app := p.Labels["app"]
				if p.Spec.Affinity != nil && apart[app] {
					t.Errorf("%s: two pods of %s on %s", name, app, n.Name)
				}
				apart[app] = true
				if len(p.Spec.TopologySpreadConstraints) > 0 {
					if zones[app] == nil {
						zones[app] = map[string]int{}
					}
					zones[app][n.Object.Labels[corev1.LabelTopologyZone]]++
				}
				if p.Spec.NodeName != n.Name {
					t.Errorf("%s: a pod of %s is bound to %q", name, n.Name, p.Spec.NodeName)
				}
			}
		}
		fill := max(float64(asked[0])/float64(have[0]), float64(asked[1])/float64(have[1]))
		if fill < OrdinaryFill-0.02 || fill > OrdinaryFill+0.04 { // the last pod of few nodes is a large share
			t.Errorf("%s is %.3f full", name, fill)
		}
		for app, counts := range zones {
			low, high := 1<<30, 0
			for _, o := range s.Catalogs[PoolName][0].Offerings {
				zone := o.Requirements.Get(corev1.LabelTopologyZone).Values()[0]
				low, high = min(low, counts[zone]), max(high, counts[zone])
			}
			if high-low > 1 {
				t.Errorf("%s: %s is spread as %v", name, app, counts)
			}
		}
	}
}

func TestParseOrdinaryFleet(t *testing.T) {
	for _, name := range []string{"", "-", "m5", "60n", "m5-none-3z-1", "m5-none-3z-1-60", "m5-none-3z-1-0n", "m5-none-3z-1-9999999n", "m5-none-3z-1-60n-60n",
		"m5-none-3z-1-40p-60n", "m5-none-9z-1-60n", "m5-none-3z-1-060n", "m5-none-3z-1-60nn"} {
		if f, err := ParseOrdinaryFleet(name); err == nil {
			t.Errorf("%q is taken: %+v", name, f)
		}
	}
}
