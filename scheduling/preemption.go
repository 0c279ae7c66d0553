package scheduling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/pods"
)

// PreemptionPolicy says what to do for pods that kube-scheduler places by preemption.
type PreemptionPolicy string

const (
	// PreemptionIgnore plans a node for a pod whether or not it preempts others.
	PreemptionIgnore PreemptionPolicy = "Ignore"
	// PreemptionExpect plans no node for a pod that preempts others: its victims need one when they are made again.
	PreemptionExpect PreemptionPolicy = "Expect"
)

// Preemption is a pod for which kube-scheduler makes room on a node by preempting pods of lower priority.
type Preemption struct {
	Pod PodKey `json:"pod"`
	// Node whose pods are preempted, as in Snapshot.Nodes.
	Node string `json:"node"`
	// Victims are the pods that are preempted, by falling priority.
	Victims []PodKey `json:"victims"`
	// HighestPriority is the highest of theirs.
	HighestPriority int32 `json:"highestPriority"`
	// BudgetViolations counts the victims that a PodDisruptionBudget would keep from being evicted. kube-scheduler prefers
	// nodes without any, but preempts such pods if there is no other way.
	BudgetViolations int `json:"budgetViolations,omitempty"`
}

// String is a sentence for operators.
func (p Preemption) String() string {
	names := make([]string, len(p.Victims))
	for i, v := range p.Victims {
		names[i] = v.String()
	}
	text := fmt.Sprintf("pod %s preempts %s on node %s, of priority %d at most", p.Pod, strings.Join(names, ", "), p.Node, p.HighestPriority)
	if p.BudgetViolations > 0 {
		text += fmt.Sprintf(", %d against a PodDisruptionBudget", p.BudgetViolations)
	}
	return text
}

// neverPreempts reports whether pods of the spec wait rather than preempt others.
func neverPreempts(spec *corev1.PodSpec) bool {
	return spec.PreemptionPolicy != nil && *spec.PreemptionPolicy == corev1.PreemptNever
}

// maxPreemptors bounds for how many pods preemption is looked into.
const maxPreemptors = 1000

// expectedPreemptions are those that kube-scheduler would make.
type expectedPreemptions struct {
	list []Preemption
	// classes counts the pods by class; holds is what they take of each machine beyond what their victims had there.
	classes map[int32]int32
	holds   map[int32][]int64
}

// preemptions plays kube-scheduler on the snapshot's nodes: it takes pods by priority, and preempts for those that have no
// place, by the rules of its DefaultPreemption. solved tells which pods have no place on the nodes that there are: without
// any nothing is preempted.
func (m *Model) preemptions(ctx context.Context, solved *Trial, q Query) expectedPreemptions {
	out := expectedPreemptions{classes: map[int32]int32{}, holds: map[int32][]int64{}}
	lowest := m.lowestBound()
	onNew := make(map[int32]bool)
	for _, b := range solved.placed {
		onNew[b.class] = onNew[b.class] || b.count > 0 && b.host >= int32(len(m.nodes))
	}
	var real []int32
	wanted := false
	for i, c := range m.classes {
		if len(c.pending) == 0 || c.placeholder || c.invalid != nil || int64(c.priority) <= lowest {
			continue
		}
		real = append(real, int32(i))
		wanted = wanted || !c.never && (onNew[int32(i)] || solved.waiting[i] > 0)
	}
	if !wanted {
		return out
	}
	budgets, err := pods.NewBudgets(m.snapshot.PodDisruptionBudgets)
	if err != nil {
		budgets = nil // kube-scheduler passes over a budget that can't be read
	}
	t := m.Trial()
	t.options = PlaceOptions{Query: q, ExistingOnly: true}
	t.placeNominated(real, math.MinInt32)
	e := &preemptor{t: t, budgets: budgets, gone: map[int32]map[int]bool{}}
	for _, tier := range t.priorities(real) {
		t.placeTogether(ctx, tier)
		for _, class := range tier {
			c := m.classes[class]
			for t.waiting[class] > 0 && !c.never && len(out.list) < maxPreemptors && ctx.Err() == nil {
				found := e.choose(class)
				if found == nil {
					break
				}
				e.take(class, found)
				out.classes[class]++
				out.hold(m, class, found)
				pod := m.pods[c.pending[len(c.pending)-int(out.classes[class])]]
				out.list = append(out.list, found.preemption(m, PodKey{pod.Namespace, pod.Name}))
			}
		}
	}
	return out
}

// lowestBound is the lowest priority of a pod on a node that takes pods.
func (m *Model) lowestBound() int64 {
	lowest := int64(math.MaxInt64)
	for i := range m.nodes {
		if !m.nodes[i].usable {
			continue
		}
		for _, p := range m.nodes[i].bound {
			lowest = min(lowest, int64(m.classes[p.class].priority))
		}
	}
	return lowest
}

// leaveTo leaves pods out of the trial for which kube-scheduler makes room, and keeps what they need of the room that is
// free now.
func (t *Trial) leaveTo(expected expectedPreemptions) {
	for class, n := range expected.classes {
		t.waiting[class] -= n
	}
	for node, held := range expected.holds {
		free := t.freeOf(node)
		for d := range free {
			free[d] = max(free[d]-max(held[d], 0), 0)
		}
	}
}

// hold counts one more pod of the class, and its victims.
func (x *expectedPreemptions) hold(m *Model, class int32, v *victims) {
	n := &m.nodes[v.node]
	held := x.holds[v.node]
	if held == nil {
		held = make([]int64, m.resources.len())
		if n.over != nil {
			addScaled(held, n.over, 1)
		}
		x.holds[v.node] = held
	}
	addScaled(held, m.classes[class].requests, 1)
	for _, k := range v.list {
		addScaled(held, m.classes[n.bound[k].class].unshared(), -1)
	}
}

// preemptor looks for victims.
type preemptor struct {
	t       *Trial
	budgets *pods.Budgets
	// gone are the victims so far, by machine and place among its bound pods.
	gone map[int32]map[int]bool
}

// victims are those of one machine, as places among its bound pods, by falling priority.
type victims struct {
	node       int32
	list       []int
	violations int
	highest    int32
	sum        int64
	// started is when the first of those with the highest priority started.
	started time.Time
}

// choose finds the machine that kube-scheduler would choose for one more pod of the class; nil if preemption helps on
// none. It prefers fewest violations of budgets, then the lowest highest priority, the lowest sum of priorities, fewest
// victims, and those that started last.
func (e *preemptor) choose(class int32) *victims {
	t, m := e.t, e.t.m
	c := m.classes[class]
	if at, known := m.nodeIndex[c.nominated]; known && len(m.nodes[at].victimsOn(m, c.priority)) > 0 {
		return nil // it waits for the pods that it has preempted already
	}
	var best *victims
	for i := range t.usable.members {
		if !m.accepts(m.nodes[i].group, c.shape) {
			continue // what preemption can't change
		}
		if v := e.on(int32(i), class); v != nil && (best == nil || v.compare(best) < 0) {
			best = v
		}
	}
	return best
}

func (v *victims) compare(o *victims) int {
	return cmp.Or(cmp.Compare(v.violations, o.violations), cmp.Compare(v.highest, o.highest), cmp.Compare(v.sum, o.sum),
		cmp.Compare(len(v.list), len(o.list)), o.started.Compare(v.started))
}

// on finds the victims on one machine; nil if the pod would not fit without all pods of lower priority.
func (e *preemptor) on(node, class int32) *victims {
	m := e.t.m
	c, n := m.classes[class], &m.nodes[node]
	var list []int
	for k, p := range n.bound {
		if m.classes[p.class].priority < c.priority && !e.gone[node][k] {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return nil
	}
	e.settle(node, -1)
	for _, k := range list {
		e.shift(node, k, -1)
	}
	out := &victims{node: node, highest: math.MinInt32}
	if e.holds(c, node) {
		slices.SortStableFunc(list, func(a, b int) int { return e.moreImportant(n.bound[a], n.bound[b]) })
		violating, others := e.byBudget(n, list)
		for _, k := range violating {
			if !e.reprieve(c, node, k) {
				out.list = append(out.list, k)
				out.violations++
			}
		}
		for _, k := range others {
			if !e.reprieve(c, node, k) {
				out.list = append(out.list, k)
			}
		}
	} else {
		out.list = list
		for _, k := range list {
			e.shift(node, k, 1)
		}
		e.settle(node, 1)
		return nil
	}
	for _, k := range out.list {
		e.shift(node, k, 1)
		p := n.bound[k]
		priority := m.classes[p.class].priority
		out.sum += int64(priority) + math.MaxInt32 + 1
		if started := startOf(p.pod); priority > out.highest || priority == out.highest && started.Before(out.started) {
			out.highest, out.started = priority, started
		}
	}
	e.settle(node, 1)
	if len(out.list) == 0 {
		return nil // it fits as it is: what it waits for is elsewhere
	}
	slices.SortStableFunc(out.list, func(a, b int) int { return e.moreImportant(n.bound[a], n.bound[b]) })
	return out
}

// settle takes what a machine is overcommitted by off its free amounts (sign -1), or gives it back.
func (e *preemptor) settle(node int32, sign int64) {
	if over := e.t.m.nodes[node].over; over != nil && len(e.gone[node]) == 0 {
		addScaled(e.t.freeOf(node), over, sign)
	}
}

// shift takes a bound pod off its machine (sign -1), or puts it back.
func (e *preemptor) shift(node int32, k int, sign int32) {
	p := e.t.m.nodes[node].bound[k]
	addScaled(e.t.freeOf(node), e.t.m.classes[p.class].unshared(), -int64(sign))
	if e.t.topology != nil {
		e.t.topology.place(e.t.m.stakeOfBound(p), node, sign)
	}
}

// holds reports whether the pod could go on the machine as it is now.
func (e *preemptor) holds(c *class, node int32) bool {
	free := e.t.freeOf(node)
	for d, need := range e.t.needOn(c, node) {
		if need > 0 && need > free[d] {
			return false
		}
	}
	return e.t.admits(c, node)
}

// reprieve puts a victim back if the pod still fits.
func (e *preemptor) reprieve(c *class, node int32, k int) bool {
	e.shift(node, k, 1)
	if e.holds(c, node) {
		return true
	}
	e.shift(node, k, -1)
	return false
}

// moreImportant orders pods as kube-scheduler lets them stay: by falling priority, then those that started first.
func (e *preemptor) moreImportant(a, b boundPod) int {
	m := e.t.m
	return cmp.Or(cmp.Compare(m.classes[b.class].priority, m.classes[a.class].priority), startOf(a.pod).Compare(startOf(b.pod)), comparePods(a.pod, b.pod))
}

func startOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime == nil {
		return time.Unix(1<<40, 0) // not started: later than any
	}
	return pod.Status.StartTime.Time
}

// byBudget tells the pods that budgets would keep from being evicted, if all were, from the others.
func (e *preemptor) byBudget(n *node, list []int) (violating, others []int) {
	left := map[*pods.Budget]int{}
	for _, k := range list {
		breaks := false
		for _, b := range e.budgets.Of(n.bound[k].pod) {
			if _, seen := left[b]; !seen {
				left[b] = b.Allowed
			}
			left[b]--
			breaks = breaks || left[b] < 0
		}
		if breaks {
			violating = append(violating, k)
		} else {
			others = append(others, k)
		}
	}
	return violating, others
}

// take lets the pod have its place, for pods that come after it.
func (e *preemptor) take(class int32, v *victims) {
	e.settle(v.node, -1)
	if e.gone[v.node] == nil {
		e.gone[v.node] = map[int]bool{}
	}
	for _, k := range v.list {
		e.shift(v.node, k, -1)
		e.gone[v.node][k] = true
	}
	e.t.place(binding{class: class, host: v.node, count: 1, stage: -1})
}

// preemption writes the victims down.
func (v *victims) preemption(m *Model, pod PodKey) Preemption {
	n := &m.nodes[v.node]
	out := Preemption{Pod: pod, Node: n.name, HighestPriority: v.highest, BudgetViolations: v.violations}
	for _, k := range v.list {
		out.Victims = append(out.Victims, PodKey{n.bound[k].pod.Namespace, n.bound[k].pod.Name})
	}
	return out
}
