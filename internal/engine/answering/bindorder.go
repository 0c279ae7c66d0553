package answering

import (
	"cmp"
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Plan.Order is an order in which kube-scheduler would bind the pods exactly as planned, once all planned nodes exist. Pods are usually
// placed in such an order. But sometimes a node's labels are decided only when a later pod is placed on it. Then the node adds a domain
// that the spread constraints of earlier pods did not count. The pod that fills this domain must be bound before those earlier pods.
// kube-scheduler also has its own order, the order of its queue. If equal pods get the places of a plan in the order of kube-scheduler's
// queue, kube-scheduler can follow most plans.

// bindOrder returns the pods that the trial has placed, in an order in which they can be bound. If queueOrder finds an order, bindOrder
// returns it: the order of kube-scheduler's queue as far as rules allow. If not, bindOrder returns an order that is as close as possible to
// the order in which the pods were placed. If some pods can't be bound in any order that was tried, they come last.
func (t *Answering) bindOrder() []state.Binding {
	if t.S.Topology == nil || !placing.SpreadsOf(t.Trial).AnyPlaced(func(o *topology.Groups, _ int32) bool { return orderMatters(t.M, o) }) {
		return t.OrderForDevices(t.S.Placed.All)
	}
	order := t.queueOrder()
	if order == nil {
		order = t.placingOrder()
	}
	if adapted := t.OrderForDevices(order); t.canBeBound(adapted) {
		return adapted
	}
	return order
}

// canBeBound reports whether rules allow all pods to be bound in the given order.
func (t *Answering) canBeBound(order []state.Binding) bool {
	if t.M.Devices == nil {
		return true // the model has no devices, so OrderForDevices has not changed the order
	}
	s := t.beforePlacing()
	for _, b := range order {
		if bindAll(t.M.Classes[b.Class], s, &b); b.Count > 0 {
			return false
		}
	}
	return true
}

// orderMatters reports whether rules may allow a pod with these topology groups to be bound only before or after other pods. This is so if
// the pod has a required spread constraint over domains larger than a node, or if it follows other pods (pod affinity). Spread constraints
// over nodes and anti-affinity don't matter, because they allow or forbid a place independently of the order.
func orderMatters(m *model.Model, o *topology.Groups) bool {
	return slices.ContainsFunc(o.Owns, func(g int32) bool {
		group := &m.Topology[g]
		return group.Hard && (group.Kind == topology.Affinity || (group.Kind == topology.Spread && group.At != topology.Hostname))
	})
}

// placingOrder returns the placed pods in the order in which they were placed, except that pods that can't be bound yet are postponed and
// tried again.
func (t *Answering) placingOrder() []state.Binding {
	s := t.beforePlacing()
	out := make([]state.Binding, 0, len(t.S.Placed.All))
	left := slices.Clone(t.S.Placed.All)
	for progress := true; progress && len(left) > 0; {
		progress = false
		kept := left[:0]
		for _, b := range left {
			bound := bindAll(t.M.Classes[b.Class], s, &b)
			if bound.Count > 0 {
				out, progress = append(out, bound), true
			}
			if b.Count > 0 {
				kept = append(kept, b)
			}
		}
		left = kept
	}
	return append(out, left...)
}

// beforePlacing returns the topology state with all existing nodes but without the pods that the trial has placed. It counts pods as
// kube-scheduler does.
func (t *Answering) beforePlacing() *topology.State {
	s := t.S.Topology.Clone()
	s.Binding, s.LooseHosts = true, t.S.Tight == 0
	for _, b := range t.S.Placed.All {
		s.Place(t.M.Classes[b.Class].Topology, b.Host, -b.Count)
	}
	return s
}

// bindAll binds the pods of the binding b one by one, until the rules allow no more pods. All these pods have the class c. The method
// returns the bound pods and leaves the other pods in b.
func bindAll(c *podclass.Class, s *topology.State, b *state.Binding) (bound state.Binding) {
	bound = *b
	bound.Count = 0
	if c.Topology == nil || b.Count == 0 {
		bound, b.Count = *b, 0
		return bound
	}
	for b.Count > 0 && s.Admits(c.Topology, c.Shape, b.Host) {
		s.Place(c.Topology, b.Host, 1)
		b.Count--
		bound.Count++
	}
	return bound
}

// queueOrder binds pods in the order of kube-scheduler's queue. Each pod gets the first place that is planned for its class and that rules
// allow now. Pods without such a place are tried again after the other pods. queueOrder returns nil if there are more than
// solving.MaxRetriedPods pods, or if some pods can't be bound.
func (t *Answering) queueOrder() []state.Binding {
	pods := 0
	for _, b := range t.S.Placed.All {
		pods += int(b.Count)
	}
	if pods > solving.MaxRetriedPods {
		return nil
	}
	queue := t.queue()
	s, places := t.beforePlacing(), t.placesByClass()
	out := make([]state.Binding, 0, len(t.S.Placed.All))
	for len(queue) > 0 {
		again := queue[:0]
		before := len(queue)
		for _, class := range queue {
			bound, ok := places[class].take(t.M.Classes[class], s)
			if !ok {
				again = append(again, class)
				continue
			}
			if last := len(out) - 1; last >= 0 && out[last].Class == class && out[last].Host == bound.Host && out[last].Stage == bound.Stage {
				out[last].Count++
				continue
			}
			out = append(out, bound)
		}
		if queue = again; len(queue) == before {
			return nil
		}
	}
	return out
}

// queue returns the class of each placed pod, in the order in which kube-scheduler takes the pods from its queue: by priority, then by age.
// Placeholders come last.
func (t *Answering) queue() []int32 {
	type entry struct {
		class int32
		pod   *corev1.Pod
	}
	var list []entry
	q, placed := trial.NewPodQueues(t.Trial), make([]int32, len(t.M.Classes))
	for _, b := range t.S.Placed.All {
		placed[b.Class] += b.Count
	}
	for class, n := range placed {
		for range n {
			list = append(list, entry{int32(class), q.One(int32(class))})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int {
		x, y := t.M.Classes[a.class], t.M.Classes[b.class]
		return cmp.Or(model.BoolCompare(x.Placeholder, y.Placeholder), cmp.Compare(y.Priority, x.Priority), likeness.Compare(a.pod, b.pod))
	})
	out := make([]int32, len(list))
	for i := range list {
		out[i] = list[i].class
	}
	return out
}

// places are the planned places for the pods of one class, grouped by the properties that rules can see.
type places struct {
	// alike lists groups of bindings that rules can't distinguish while pods are bound. The bindings of a group are in the order in which
	// their pods were placed.
	alike [][]state.Binding
}

// placesByClass returns, by the number of the class, the planned places of the class's pods.
func (t *Answering) placesByClass() []places {
	out := make([]places, len(t.M.Classes))
	at := map[string]int{}
	var key []byte
	for _, b := range t.S.Placed.All {
		if b.Count == 0 {
			continue
		}
		c := t.M.Classes[b.Class]
		key = binary.LittleEndian.AppendUint32(key[:0], uint32(b.Class))
		if c.Topology != nil {
			h := &t.S.Topology.Hosts[b.Host]
			for _, list := range [][]int32{h.Domains, h.IgnoredBy} {
				key = binary.LittleEndian.AppendUint32(key, uint32(len(list)))
				for _, n := range list {
					key = binary.LittleEndian.AppendUint32(key, uint32(n))
				}
			}
			if t.S.Tight > 0 || placing.SitesOf(t.Trial).MustShare(c) {
				key = binary.LittleEndian.AppendUint32(key, uint32(b.Host))
			}
		}
		p := &out[b.Class]
		i, known := at[string(key)]
		if !known {
			i = len(p.alike)
			at[string(key)] = i
			p.alike = append(p.alike, nil)
		}
		p.alike[i] = append(p.alike[i], b)
	}
	return out
}

// take binds one pod to the first place where rules allow the pod now. The result ok is false if rules allow it at no place.
func (p *places) take(c *podclass.Class, s *topology.State) (bound state.Binding, ok bool) {
	for i, list := range p.alike {
		if len(list) == 0 {
			continue
		}
		b := &list[0]
		one := *b
		one.Count = 1
		if bound = bindAll(c, s, &one); bound.Count == 0 {
			continue
		}
		if b.Count--; b.Count == 0 {
			p.alike[i] = list[1:]
		}
		return bound, true
	}
	return bound, false
}
