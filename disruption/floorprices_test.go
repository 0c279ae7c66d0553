package disruption_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
)

// requiring has a pool's nodes meet a requirement.
func requiring(key string, op corev1.NodeSelectorOperator, values ...string) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		spec := &p.Spec.Template.Spec
		spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: op, Values: values})
	}
}

func tainted(key string) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		spec := &p.Spec.Template.Spec
		spec.Taints = append(spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
}

func tolerating(key string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}

// notReadyPool keeps a pool from launching nodes.
func (w *world) notReadyPool(name string) {
	for i := range w.snapshot.NodePools {
		if w.snapshot.NodePools[i].Object.Name == name {
			w.snapshot.NodePools[i].NotReady = "its NodeClass is not ready"
		}
	}
}

// repriced adds an overlay for an instance type.
func (w *world) repriced(instanceType, price string) {
	o := &v1.NodeOverlay{}
	o.Name = "overlay-" + instanceType
	o.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{instanceType}}}
	o.Spec.Price = &price
	w.snapshot.NodeOverlays = append(w.snapshot.NodeOverlays, o)
}

// Proofs consider what new nodes for the pods may be, and not with what else catalogs have.
func TestFloorsOfWhatMayBeLaunched(t *testing.T) {
	onDemand := requiring(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, "on-demand")
	mixed := func(w *world) {
		w.catalog("all", instanceType("c2", 2, "on-demand=0.1", "spot=0.04"), instanceType("c4", 4, "on-demand=0.2", "spot=0.07"), instanceType("c8", 8, "on-demand=0.4", "spot=0.15"))
	}
	large := func(options ...podOption) nodeOption {
		return holding(pod("large", append([]podOption{asks("cpu=1800m", "memory=100Mi")}, options...)...))
	}
	// two pods of a full node together are worth it, neither is alone.
	two := func(w *world, options ...podOption) {
		w.node("full", "c4", holding(pods("half", 2, "2", options...)...))
	}
	reserved := func(price string, left int) func(*world) {
		return func(w *world) {
			it := instanceType("c2", 2, "on-demand=0.1", "reserved="+price)
			for i := range it.Offerings {
				it.Offerings[i].ReservationCapacity = left
			}
			w.catalog("all", it, instanceType("c4", 4, "on-demand=0.2"))
		}
	}
	for _, c := range []struct {
		name  string
		make  func(*world)
		floor float64 // 0 for no proof
	}{
		{"an on-demand pool", func(w *world) {
			mixed(w)
			w.pool("default", onDemand)
			w.node("full", "c2", large())
		}, 0.1},
		{"one that allows spot", func(w *world) {
			mixed(w)
			w.node("full", "c2", large())
		}, 0},
		{"two pods of an on-demand pool", func(w *world) {
			mixed(w)
			w.pool("default", onDemand)
			two(w)
		}, 0.2},
		{"pods that keep to on demand", func(w *world) {
			mixed(w)
			two(w, selecting(v1.CapacityTypeLabelKey, "on-demand"))
		}, 0.2},
		{"a spot pool that they don't tolerate", func(w *world) {
			mixed(w)
			w.pool("default", onDemand)
			w.pool("cheap", tainted("cheap"))
			two(w)
		}, 0.2},
		{"one that they do", func(w *world) {
			mixed(w)
			w.pool("default", onDemand)
			w.pool("cheap", tainted("cheap"))
			two(w, tolerating("cheap"))
		}, 0},
		{"one that is not ready", func(w *world) {
			mixed(w)
			w.pool("default", onDemand)
			w.pool("cheap")
			w.notReadyPool("cheap")
			two(w)
		}, 0.2},
		{"one that is static", func(w *world) {
			mixed(w)
			w.pool("default", onDemand)
			w.pool("cheap", replicas(1))
			two(w)
		}, 0.2},
		{"one at its limit could have room by then", func(w *world) {
			mixed(w)
			w.pool("default", onDemand)
			w.pool("cheap", func(p *v1.NodePool) { p.Spec.Limits = amounts("cpu=0") })
			two(w)
		}, 0},
		{"an overlay that makes a type more expensive", func(w *world) {
			w.node("full", "c2", large())
			w.repriced("c2", "0.15")
		}, 0.15},
		{"an overlay that makes one cheaper", func(w *world) {
			w.node("full", "c2", large())
			w.repriced("c4", "0.05")
		}, 0},
		{"a reservation that costs nothing", func(w *world) {
			reserved("0", 1)(w)
			w.node("full", "c2", large())
		}, 0},
		{"one that costs next to nothing", func(w *world) {
			reserved("0.00001", 1)(w)
			w.node("full", "c2", large())
		}, 0},
		{"one that is used up", func(w *world) {
			reserved("0.00001", 0)(w)
			w.node("full", "c2", large())
		}, 0.1},
		{"one that is too small", func(w *world) {
			reserved("0", 1)(w)
			w.node("full", "c4", holding(pod("large", asks("cpu=3", "memory=100Mi"))))
		}, 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			c.make(w)
			plan, err := thrifty().Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			floor := 0.0
			for _, v := range plan.Verdicts {
				for _, b := range v.Blocks {
					if b.Block.Code == disruption.BlockFloor {
						floor = b.Block.Floor
						if b.Block.Proof.Prices >= len(plan.FloorPrices) {
							t.Errorf("prices %d of %d", b.Block.Proof.Prices, len(plan.FloorPrices))
						}
					}
				}
			}
			if math.Abs(floor-c.floor) > 1e-9 {
				t.Errorf("a floor of %g, want %g (%v, %v)", floor, c.floor, plan.Verdicts, plan.Commands)
			}
		})
	}
}

// narrowWorld has up to five nodes that are nearly full, of pools that each have requirements, taints, weights or what keeps
// them from launching anything, with pods that may go to some of them only; and perhaps a reservation and an overlay.
func narrowWorld(rt *rapid.T) *world {
	w := newWorld()
	types := []*cloudprovider.InstanceType{instanceType("c2", 2, "on-demand=0.1", "spot=0.04"), instanceType("c4", 4, "on-demand=0.2", "spot=0.07"),
		instanceType("c8", 8, "on-demand=0.4", "spot=0.15"), instanceType("c16", 16, "on-demand=0.75")}
	if rapid.Bool().Draw(rt, "reserved") {
		it := instanceType("r4", 4, "on-demand=0.22", "reserved="+rapid.SampledFrom([]string{"0", "0.00001", "0.05"}).Draw(rt, "reservation"))
		left := rapid.IntRange(0, 2).Draw(rt, "left")
		for i := range it.Offerings {
			it.Offerings[i].ReservationCapacity = left
		}
		types = append(types, it)
	}
	w.catalog("all", types...)
	w.pool("other")
	w.pool("tainted", tainted("x"))
	w.pool("third")
	for i := range w.snapshot.NodePools {
		p := w.snapshot.NodePools[i].Object
		if rapid.IntRange(0, 2).Draw(rt, "keeps to a capacity type") > 0 {
			requiring(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, rapid.SampledFrom([]string{"on-demand", "on-demand", "spot", "reserved"}).Draw(rt, "capacity type"))(p)
		}
		if rapid.IntRange(0, 3).Draw(rt, "keeps to a zone") == 0 {
			requiring(corev1.LabelTopologyZone, corev1.NodeSelectorOpNotIn, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "other zone"))(p)
		}
		if rapid.IntRange(0, 3).Draw(rt, "keeps to types") == 0 {
			requiring(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpNotIn, rapid.SampledFrom([]string{"c2", "c4", "c8"}).Draw(rt, "other type"))(p)
		}
		if weight := rapid.Int32Range(0, 2).Draw(rt, "weight"); weight > 0 {
			p.Spec.Weight = &weight
		}
		switch name := p.Name; rapid.IntRange(0, 5).Draw(rt, "state of "+name) {
		case 0:
			w.notReadyPool(name)
		case 1:
			if name == "third" {
				replicas(1)(p)
			}
		case 2:
			p.Spec.Limits = amounts("cpu=40")
		}
	}
	if rapid.IntRange(0, 2).Draw(rt, "overlay") == 0 {
		w.repriced(rapid.SampledFrom([]string{"c2", "c4", "c8"}).Draw(rt, "of"), rapid.SampledFrom([]string{"0.03", "0.12", "0.3"}).Draw(rt, "price"))
	}
	for i := range rapid.IntRange(1, 5).Draw(rt, "nodes") {
		name, size := fmt.Sprintf("n-%d", i), rapid.SampledFrom([]int{2, 4, 8}).Draw(rt, "cores")
		n := rapid.IntRange(1, 3).Draw(rt, "pods")
		each := (1000*size - rapid.SampledFrom([]int{0, 150, 600, 1700}).Draw(rt, "free")) / n
		w.node(name, fmt.Sprintf("c%d", size), ofPool(rapid.SampledFrom([]string{"default", "other"}).Draw(rt, "pool")),
			bought(rapid.SampledFrom([]string{"on-demand", "on-demand", "spot"}).Draw(rt, "bought")), holding(pods(name, n, fmt.Sprintf("%dm", each))...))
		for _, p := range podsOf(w, name) {
			switch rapid.IntRange(0, 5).Draw(rt, "keeps to") {
			case 0:
				tolerating("x")(p)
			case 1:
				selecting(v1.CapacityTypeLabelKey, rapid.SampledFrom([]string{"on-demand", "spot"}).Draw(rt, "kind of node"))(p)
			case 2:
				selecting(corev1.LabelTopologyZone, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "zone"))(p)
			}
		}
	}
	return w
}

// launchOption is one node that a pool may launch.
type launchOption struct {
	pool    *v1.NodePool
	labels  map[string]string
	cores   int64 // milli
	amounts corev1.ResourceList
	price   float64
}

// launchable returns all that the pools may launch, by their objects alone.
func launchable(w *world) []launchOption {
	var out []launchOption
	for i := range w.snapshot.NodePools {
		p := &w.snapshot.NodePools[i]
		if p.NotReady != "" || p.Object.Spec.Replicas != nil {
			continue
		}
		for _, it := range w.snapshot.Catalogs["all"] {
			for k := range it.Offerings {
				o := &it.Offerings[k]
				m := launchOption{pool: p.Object, cores: it.Capacity.Cpu().MilliValue(), amounts: it.Capacity, price: o.Price, labels: map[string]string{
					corev1.LabelInstanceTypeStable: it.Name, corev1.LabelTopologyZone: o.Zone(), v1.CapacityTypeLabelKey: o.CapacityType(),
				}}
				for _, overlay := range w.snapshot.NodeOverlays {
					if slices.Contains(overlay.Spec.Requirements[0].Values, it.Name) {
						if _, err := fmt.Sscan(*overlay.Spec.Price, &m.price); err != nil {
							panic(err)
						}
					}
				}
				meets := !slices.ContainsFunc(p.Object.Spec.Template.Spec.Requirements, func(r v1.NodeSelectorRequirementWithMinValues) bool {
					return slices.Contains(r.Values, m.labels[r.Key]) != (r.Operator == corev1.NodeSelectorOpIn)
				})
				if meets && (!o.Reserved() || o.ReservationCapacity > 0) {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// takes reports whether the node may be launched for the pod.
func (m *launchOption) takes(p *corev1.Pod) bool {
	for key, value := range p.Spec.NodeSelector {
		if m.labels[key] != value {
			return false
		}
	}
	return !slices.ContainsFunc(m.pool.Spec.Template.Spec.Taints, func(taint corev1.Taint) bool {
		return !slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool { return t.Key == taint.Key })
	})
}

func cores(p *corev1.Pod) int64 { return p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() }

// leastFor is what new nodes for the pods of a node cost at least, by trying all ways: the pods are dealt out to the other nodes, as
// far as they have cores, and to new nodes. Rules between pods, limits and reservations' sizes are left out.
func leastFor(w *world, node string) float64 {
	options := launchable(w)
	var list []*corev1.Pod
	var free []int64
	for i := range w.snapshot.Nodes {
		n := &w.snapshot.Nodes[i]
		if n.Name == node {
			list = n.Pods
			continue
		}
		left := n.Object.Status.Allocatable.Cpu().MilliValue()
		for _, p := range n.Pods {
			left -= cores(p)
		}
		free = append(free, left)
	}
	var groups [][]*corev1.Pod
	best := math.Inf(1)
	var deal func(i int)
	deal = func(i int) {
		if i == len(list) {
			sum := 0.0
			for _, group := range groups {
				sum += cheapestFor(options, group)
			}
			best = min(best, sum)
			return
		}
		for k := range free {
			if free[k] >= cores(list[i]) && !slices.Contains(free[:k], free[k]) {
				free[k] -= cores(list[i])
				deal(i + 1)
				free[k] += cores(list[i])
			}
		}
		for k := range groups {
			groups[k] = append(groups[k], list[i])
			deal(i + 1)
			groups[k] = groups[k][:len(groups[k])-1]
		}
		groups = append(groups, []*corev1.Pod{list[i]})
		deal(i + 1)
		groups = groups[:len(groups)-1]
	}
	deal(0)
	return best
}

// cheapestFor is the price of the cheapest node for all the pods together; infinite if there is none.
func cheapestFor(options []launchOption, pods []*corev1.Pod) float64 {
	best, need := math.Inf(1), int64(0)
	for _, p := range pods {
		need += cores(p)
	}
	for i := range options {
		m := &options[i]
		if m.cores >= need && m.price < best && !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return !m.takes(p) }) {
			best = m.price
		}
	}
	return best
}

// No node that is proven to stay is one that could be replaced for less: new nodes for its pods, found by trying all ways, cost at
// least its floor, and save less than required. What the proof is made of is as said: the cheapest node for each pod, and prices
// by which none of those for the pods is worth more than it costs.
func TestFloorsAreSound(t *testing.T) {
	proofs := 0
	seeded.Times(t, 300, func(rt *rapid.T) {
		w := narrowWorld(rt)
		plan, err := drawnPlanner(rt).Plan(t.Context(), w.fleet(t))
		if err != nil {
			rt.Fatal(err)
		}
		for _, v := range plan.Verdicts {
			for _, b := range v.Blocks {
				if b.Block.Code != disruption.BlockFloor {
					continue
				}
				proofs++
				least := leastFor(w, v.Node)
				if least < b.Block.Floor-1e-8 || v.Price-least > max(b.Block.Required, 1e-9)+1e-8 {
					rt.Errorf("%s costs %.5f, is said to take new nodes for %.5f at least, and could be replaced for %.5f", v.Node, v.Price, b.Block.Floor, least)
				}
				recheckNarrow(rt, w, plan, v.Node, b.Block.Proof)
			}
		}
	})
	if proofs == 0 {
		t.Error("nothing was proven")
	}
	t.Logf("%d proofs", proofs)
}

func recheckNarrow(rt *rapid.T, w *world, plan *disruption.Plan, node string, proof *disruption.Proof) {
	options, prices := launchable(w), plan.FloorPrices[proof.Prices]
	single := 0.0
	for _, h := range proof.Homeless {
		for _, p := range podsOf(w, node) {
			if p.Name != h.Pod.Name {
				continue
			}
			if least := cheapestFor(options, []*corev1.Pod{p}); least != h.Cheapest {
				rt.Errorf("the cheapest node for %s costs %g, not %g", h.Pod, least, h.Cheapest)
			}
			single = max(single, h.Cheapest)
			for i := range options {
				if m := &options[i]; m.takes(p) && m.cores >= cores(p) && prices.Worth(m.amounts) > m.price {
					rt.Errorf("%v costs %g and is worth %g", m.labels, m.price, prices.Worth(m.amounts))
				}
			}
		}
	}
	if worth := prices.Worth(proof.Demand); max(worth, single) < proof.Floor-1e-9 {
		rt.Errorf("%s: the floor is said to be %g and comes to %g or %g", node, proof.Floor, worth, single)
	}
}

func podsOf(w *world, node string) []*corev1.Pod {
	for i := range w.snapshot.Nodes {
		if w.snapshot.Nodes[i].Name == node {
			return w.snapshot.Nodes[i].Pods
		}
	}
	return nil
}
