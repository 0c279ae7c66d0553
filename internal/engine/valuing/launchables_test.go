package valuing_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

func keyOf(name string) scheduling.PodKey {
	return scheduling.PodKey{Namespace: "default", Name: name}
}

// What new nodes for a pod may be: what its pools and the pod allow, and no other offering of the catalog.
func TestLaunchables(t *testing.T) {
	both := func(name string, cores string, onDemand, spot float64) any {
		return parts.Sold(parts.InstanceType(name, onDemand, "cpu="+cores, "memory=16Gi"), parts.Offering("a", v1.CapacityTypeOnDemand, onDemand), parts.Offering("b", v1.CapacityTypeSpot, spot))
	}
	reserved := func(left int) any {
		o := parts.Offering("a", v1.CapacityTypeReserved, 0)
		o.ReservationCapacity = left
		return parts.Sold(parts.InstanceType("small", 0.1, "cpu=2", "memory=16Gi"), parts.Offering("a", v1.CapacityTypeOnDemand, 0.1), o)
	}
	small, large := both("small", "2", 0.1, 0.04), both("large", "4", 0.2, 0.07)
	onDemand := parts.PoolNeeds(parts.CapacityKey, parts.OpIn, "on-demand")
	for _, c := range []struct {
		name     string
		parts    []any
		pod      *corev1.Pod
		cheapest float64
		kinds    []string // pool/type, in order
		prices   []float64
		rooms    []string // cores
	}{
		{"all that there is", []any{small, large, parts.NodePool("p")}, parts.Pod("x", parts.Requests("cpu=1")), 0.04, []string{"p/large", "p/small"}, []float64{0.07, 0.04}, []string{"4", "2"}},
		{"the cheapest that holds the pod", []any{small, large, parts.NodePool("p")}, parts.Pod("x", parts.Requests("cpu=3")), 0.07, []string{"p/large", "p/small"}, []float64{0.07, 0.04}, []string{"4", "2"}},
		{"what the pool requires", []any{small, large, parts.NodePool("p", onDemand)}, parts.Pod("x", parts.Requests("cpu=1")), 0.1, []string{"p/large", "p/small"}, []float64{0.2, 0.1}, []string{"4", "2"}},
		{"what the pod requires", []any{small, large, parts.NodePool("p")}, parts.Pod("x", parts.Requests("cpu=1"), parts.Selector(parts.ZoneKey+"=a")), 0.1, []string{"p/large", "p/small"}, []float64{0.2, 0.1}, []string{"4", "2"}},
		{"not what it prefers", []any{small, parts.NodePool("p")}, parts.Pod("x", parts.Requests("cpu=1"), parts.Preferred(1, parts.In(parts.ZoneKey, "a"))), 0.04, []string{"p/small"}, []float64{0.04}, []string{"2"}},
		{"pools whose taints it tolerates", []any{small, parts.NodePool("p", parts.PoolTaints("x=1:NoSchedule")), parts.NodePool("q", onDemand)}, parts.Pod("x", parts.Requests("cpu=1")), 0.1, []string{"q/small"}, []float64{0.1}, []string{"2"}},
		{"pools of any weight", []any{small, parts.NodePool("p", parts.Weight(1)), parts.NodePool("q", onDemand, parts.Weight(10))}, parts.Pod("x", parts.Requests("cpu=1")), 0.04, []string{"q/small", "p/small"}, []float64{0.1, 0.04}, []string{"2", "2"}},
		{"whatever their limits", []any{small, parts.NodePool("p", parts.Limit("cpu=1"))}, parts.Pod("x", parts.Requests("cpu=1")), 0.04, []string{"p/small"}, []float64{0.04}, []string{"2"}},
		{"none of a pool that launches nothing", []any{small, notReady(parts.NodePool("p")), parts.NodePool("q", onDemand)}, parts.Pod("x", parts.Requests("cpu=1")), 0.1, []string{"q/small"}, []float64{0.1}, []string{"2"}},
		{"without what DaemonSets take", []any{small, large, parts.NodePool("p"), parts.DaemonSet("d", []string{"cpu=500m", "memory=1Gi"})}, parts.Pod("x", parts.Requests("cpu=1700m")), 0.07, []string{"p/large", "p/small"}, []float64{0.07, 0.04}, []string{"3500m", "1500m"}},
		{"a reservation that lasts", []any{reserved(1), parts.NodePool("p")}, parts.Pod("x", parts.Requests("cpu=1")), 0, []string{"p/small"}, []float64{0}, []string{"2"}},
		{"none that is used up", []any{reserved(0), parts.NodePool("p")}, parts.Pod("x", parts.Requests("cpu=1")), 0.1, []string{"p/small"}, []float64{0.1}, []string{"2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := valuing.FindLaunchables(parts.Compile(t, parts.Cluster(append(c.parts, parts.Node("n", parts.Bound(c.pod)))...)).Engine())
			group, cheapest, ok := l.Of("n", keyOf("x"))
			if !ok || cheapest != c.cheapest {
				t.Errorf("the cheapest costs %g (%t), want %g", cheapest, ok, c.cheapest)
			}
			kinds := l.Kinds(group, group, -1, group+1)
			if len(kinds) != len(c.kinds) {
				t.Fatalf("%+v, want %v", kinds, c.kinds)
			}
			for i, k := range kinds {
				room := k.Room[corev1.ResourceCPU]
				if got := k.Pool.Name + "/" + k.InstanceType; got != c.kinds[i] || k.Price != c.prices[i] || room.String() != c.rooms[i] {
					t.Errorf("%s with %s cores at %g, want %s with %s at %g", got, &room, k.Price, c.kinds[i], c.rooms[i], c.prices[i])
				}
			}
		})
	}
}

func notReady(np scheduling.NodePool) scheduling.NodePool {
	np.NotReady = "its NodeClass is not ready"
	return np
}

// Pods for which there is no new node, and names that there aren't.
func TestLaunchablesNone(t *testing.T) {
	l := valuing.FindLaunchables(parts.Compile(t, parts.Cluster(parts.Node("n", parts.Bound(parts.Pod("large", parts.Requests("cpu=1000")), parts.Pod("odd", parts.Selector("team=z")), parts.Pod("p"))))).Engine())
	for _, c := range []struct{ node, pod string }{{"n", "large"}, {"n", "odd"}, {"n", "q"}, {"m", "p"}} {
		if _, cheapest, ok := l.Of(c.node, keyOf(c.pod)); ok {
			t.Errorf("%s of %s has a new node at %g", c.pod, c.node, cheapest)
		}
	}
	if kinds := l.Kinds(); len(kinds) != 0 {
		t.Errorf("no groups have %+v", kinds)
	}
}

// Every new node for pods of nodes that go is one of what Kinds has for them, no cheaper, with room for them, and costs no
// less than the cheapest for each.
func TestLaunchablesHoldAllPlans(t *testing.T) {
	found := 0
	seeded.Check(t, func(rt *rapid.T) {
		drawn := parts.RandomSnapshot
		if rapid.Bool().Draw(rt, "rules between pods") {
			drawn = parts.RandomRuledSnapshot
		}
		s := drawn(rt)
		s.CostModel = nil
		m, err := scheduling.Compile(s)
		if err != nil {
			rt.Fatalf("Compile: %v", err)
		}
		trial, l := m.Trial(), valuing.FindLaunchables(m.Engine())
		groups, least, asked := map[scheduling.PodKey]int{}, map[scheduling.PodKey]float64{}, map[scheduling.PodKey]corev1.ResourceList{}
		for i := range s.Nodes {
			for _, p := range s.Nodes[i].Pods {
				key := scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}
				if group, cheapest, ok := l.Of(s.Nodes[i].Name, key); ok {
					groups[key], least[key], asked[key] = group, cheapest, scheduling.PodRequests(p)
				}
			}
			if _, err := trial.Hide(s.Nodes[i].Name); err != nil {
				rt.Fatalf("Hide: %v", err)
			}
		}
		if _, err := trial.Place(t.Context(), scheduling.PlaceOptions{}); err != nil {
			rt.Fatalf("Place: %v", err)
		}
		for _, n := range trial.Placed().NewNodes {
			var of []int
			need := corev1.ResourceList{}
			for _, key := range n.Pods {
				group, moved := groups[key]
				if !moved {
					if slices.ContainsFunc(s.Pods, func(p *corev1.Pod) bool { return p.Name == key.Name }) {
						continue
					}
					parts.Show(rt, s)
					rt.Errorf("%s is on a new node and was said to have none", key)
					continue
				}
				found++
				of = append(of, group)
				for name, q := range asked[key] {
					sum := need[name]
					sum.Add(q)
					need[name] = sum
				}
				if least[key] > n.InstanceTypes[0].Price+1e-9 {
					parts.Show(rt, s)
					rt.Errorf("%s is on a node at %g, and was said to cost %g", key, n.InstanceTypes[0].Price, least[key])
				}
			}
			if len(of) == 0 {
				continue
			}
			for _, o := range n.InstanceTypes {
				if !slices.ContainsFunc(l.Kinds(of...), func(k valuing.Launchable) bool {
					return k.Pool == n.Pool && k.InstanceType == o.Name && k.Price <= o.Price+1e-9 && holds(k.Room, need)
				}) {
					parts.Show(rt, s)
					rt.Errorf("%s of %s at %g is none of %+v", o.Name, n.Pool, o.Price, l.Kinds(of...))
				}
			}
		}
	})
	if found == 0 {
		t.Error("no pod was moved to a new node")
	}
}

func holds(room, requests corev1.ResourceList) bool {
	for name, q := range requests {
		if have := room[name]; q.Cmp(have) > 0 {
			return false
		}
	}
	return true
}
