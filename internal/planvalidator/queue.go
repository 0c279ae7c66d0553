package planvalidator

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// Chooser chooses the node to which kube-scheduler binds a pod. Build one with LeastAllocated, AtRandom or AsPlanned.
type Chooser struct {
	// pick returns the index of the node to which the pod is bound. The list nodes has the nodes that accept the pod, and it is never
	// empty.
	pick func(nodes []*node, planned string, pod *corev1.Pod) int
}

// LeastAllocated chooses the node with the largest free share of CPU and memory, like kube-scheduler's default scores.
func LeastAllocated() Chooser {
	return Chooser{func(nodes []*node, _ string, pod *corev1.Pod) int {
		best, most := 0, -1.0
		for i, m := range nodes {
			if left := m.left(pod); left > most {
				best, most = i, left
			}
		}
		return best
	}}
}

// AtRandom chooses one of the nodes that accept the pod at random. The same seed gives the same choices.
func AtRandom(seed uint64) Chooser {
	r := rand.New(rand.NewPCG(seed, 0))
	return Chooser{func(nodes []*node, _ string, _ *corev1.Pod) int { return r.IntN(len(nodes)) }}
}

// AsPlanned chooses the pod's node in the plan if this node accepts the pod when the pod is bound. If not, it chooses the first node that
// accepts the pod.
func AsPlanned() Chooser {
	return Chooser{func(nodes []*node, planned string, _ *corev1.Pod) int {
		return max(slices.IndexFunc(nodes, func(m *node) bool { return m.name == planned }), 0)
	}}
}

// left returns the mean of two shares: the free share of the node's CPU and the free share of its memory, after adding the pod.
func (m *node) left(pod *corev1.Pod) float64 {
	need, sum := requestsOf(pod), 0.0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		size, free, taken, asked := m.size[name], m.room[name], m.taken[name], need[name]
		if s := size.AsApproximateFloat64(); s > 0 {
			sum += (free.AsApproximateFloat64() - taken.AsApproximateFloat64() - asked.AsApproximateFloat64()) / s
		}
	}
	return sum / 2
}

// Queued is the result of a plan after its nodes have joined and kube-scheduler has bound its pods.
type Queued struct {
	// Refused are the pods that could not be bound to their planned nodes when they were first tried.
	Refused []scheduling.PodKey
	// Moved are the pods that were bound to a node other than the planned one.
	Moved []scheduling.PodKey
	// Left are the pods for which no node was found, although they were tried again.
	Left []scheduling.PodKey
}

// Queue binds the plan's pods as kube-scheduler does after the planned nodes have joined. It does not use the order of the plan. It uses
// the order of kube-scheduler's queue: priority, then creation time, then name (w-2 before w-10). Each pod may be bound to any node that
// accepts it when it is tried. Pods that no node accepts are tried again after the other pods, until a round binds no pod. Pods without a
// place in the plan are ignored.
//
// Snapshots with default spread constraints are not supported: the result is empty.
func Queue(s *scheduling.Snapshot, p *scheduling.Plan, choose Chooser) Queued {
	var out Queued
	c := newChecker(s, p)
	if len(s.DefaultTopologySpread) > 0 {
		return out
	}
	w, at := c.empty(), hosts(p)
	queue := c.queue()
	for first := true; len(queue) > 0; first = false {
		var again []scheduling.PodKey
		for _, key := range queue {
			pod, planned := c.pods[key], w.byName[at[key]]
			if pod == nil || planned == nil {
				continue // Check reports this
			}
			if _, known := c.volumesOf(pod); !known {
				planned.put(pod)
				continue
			}
			if first && w.refuses(planned, pod) != "" {
				out.Refused = append(out.Refused, key)
			}
			var takes []*node
			for _, m := range w.nodes {
				if w.refuses(m, pod) == "" {
					takes = append(takes, m)
				}
			}
			if len(takes) == 0 {
				again = append(again, key)
				continue
			}
			chosen := takes[choose.pick(takes, planned.name, pod)]
			if chosen != planned {
				out.Moved = append(out.Moved, key)
			}
			chosen.put(pod)
		}
		if len(again) == len(queue) {
			out.Left = again
			break
		}
		queue = again
	}
	return out
}

// queue returns the pods that the plan places, in the order of kube-scheduler's queue. Placeholders are last.
func (c *checker) queue() []scheduling.PodKey {
	placeholder := map[scheduling.PodKey]int{}
	for _, pod := range c.s.Placeholders {
		placeholder[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}] = 1
	}
	return slices.SortedStableFunc(slices.Values(c.p.Order), func(a, b scheduling.PodKey) int {
		x, y := c.pods[a], c.pods[b]
		if x == nil || y == nil {
			return cmp.Compare(a.String(), b.String())
		}
		return cmp.Or(cmp.Compare(placeholder[a], placeholder[b]), cmp.Compare(priorityOf(y), priorityOf(x)), x.CreationTimestamp.Compare(y.CreationTimestamp.Time),
			cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
	})
}

// order checks that the pods can be bound one after another in the plan's order, each to the node that the plan names. All of the plan's
// new nodes exist from the start, and each has its first instance type. It checks nothing if there are default spread constraints, which
// this checker does not support.
func (c *checker) order() {
	if len(c.s.DefaultTopologySpread) > 0 {
		return
	}
	if at, why := c.empty().replay(c.p); why != "" {
		c.fault(at, "can't be bound at its turn: %s", why)
	}
}

// hosts returns the name of the node where the plan places each pod.
func hosts(p *scheduling.Plan) map[scheduling.PodKey]string {
	out := map[scheduling.PodKey]string{}
	for i := range p.NewNodes {
		for _, key := range p.NewNodes[i].Pods {
			out[key] = p.NewNodes[i].Name
		}
	}
	for i := range p.Existing {
		for _, key := range p.Existing[i].Pods {
			out[key] = p.Existing[i].Name
		}
	}
	return out
}

// replay binds the pods that the plan places, in the order of the plan. It stops at the first pod that is refused, and returns it with the
// reason.
func (w *world) replay(p *scheduling.Plan) (pod, why string) {
	at := hosts(p)
	for _, key := range p.Order {
		one, m := w.c.pods[key], w.byName[at[key]]
		if one == nil || m == nil {
			return key.String(), fmt.Sprintf("node %q or the pod is not there", at[key])
		}
		if _, known := w.c.volumesOf(one); known {
			if why := w.refuses(m, one); why != "" {
				return key.String(), why + ", on " + m.name
			}
		}
		m.put(one)
	}
	return "", ""
}

// replayed returns the world after all pods have been bound where the plan places them. It returns nil if they can't be bound there, or if
// the plan depends on rules that this checker does not support.
func (c *checker) replayed() *world {
	w := c.empty()
	if len(c.s.DefaultTopologySpread) > 0 {
		return nil
	}
	if _, why := w.replay(c.p); why != "" {
		return nil
	}
	return w
}
