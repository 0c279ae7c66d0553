package planvalidator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// Better searches for a set of new nodes and an order of binding that place more pods than the plan. It compares the number of pods of the
// highest priority first, then of the next priority, and so on. It tries every set of nodes that the pools could launch, with up to one
// node for each pod, and every order of binding on each set. Use it only for a few pods, without limits, reservations or minValues. The
// result describes the better solution, or is "" if there is none.
func Better(s *scheduling.Snapshot, p *scheduling.Plan) string {
	e := newExhaustive(newChecker(s, p))
	if e.compare(e.possible(), e.best) <= 0 {
		return ""
	}
	for n := 0; n <= len(e.pods) && e.found == ""; n++ {
		e.choose(nil, 0, n)
	}
	return e.found
}

// exhaustive is the state of a search by Better.
type exhaustive struct {
	c    *checker
	pods []*corev1.Pod
	// alike has, for each pod, the index of the first pod that differs from this pod only in its name.
	alike []int
	// priorities are the distinct priorities of the pods, highest first. Lists of pod counts have one entry for each priority, in the same
	// order.
	priorities []int32
	// kinds are the kinds of new nodes to try.
	kinds []*node
	best  []int
	found string
}

func newExhaustive(c *checker) *exhaustive {
	e := &exhaustive{c: c, pods: c.s.Pods}
	texts := map[string]int{}
	for i, pod := range e.pods {
		e.priorities = append(e.priorities, priorityOf(pod))
		text := pod.Namespace + fmt.Sprint(pod.Labels) + pod.Spec.String()
		if _, ok := texts[text]; !ok {
			texts[text] = i
		}
		e.alike = append(e.alike, texts[text])
	}
	slices.SortFunc(e.priorities, func(a, b int32) int { return cmp.Compare(b, a) })
	e.priorities = slices.Compact(e.priorities)
	e.findKinds()
	placed := map[scheduling.PodKey]bool{}
	for _, key := range c.p.Order {
		placed[key] = true
	}
	e.best = e.count(func(i int) bool {
		return placed[scheduling.PodKey{Namespace: e.pods[i].Namespace, Name: e.pods[i].Name}]
	})
	return e
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// count returns, for each priority, how many pods satisfy the condition.
func (e *exhaustive) count(is func(i int) bool) []int {
	out := make([]int, len(e.priorities))
	for i, pod := range e.pods {
		if is(i) {
			out[slices.Index(e.priorities, priorityOf(pod))]++
		}
	}
	return out
}

// compare returns a positive number if the pod counts a are better than the pod counts b. The counts with more pods are better, at the
// highest priority at which the two lists differ.
func (e *exhaustive) compare(a, b []int) int { return slices.Compare(a, b) }

// possible returns, for each priority, how many pods fit on some existing or new node if no other pending pod is on it.
func (e *exhaustive) possible() []int {
	nodes := e.c.nodesThere()
	return e.count(func(i int) bool {
		return slices.ContainsFunc(slices.Concat(nodes, e.kinds), func(m *node) bool { return e.takes(m, e.pods[i]) })
	})
}

// takes reports whether the pod fits on the node if no other pending pod is on it.
func (e *exhaustive) takes(m *node, pod *corev1.Pod) bool {
	return blocking(&pod.Spec, m.taints) == nil && e.c.accepts(m.labels, &pod.Spec) && m.lack(requestsOf(pod)) == ""
}

func (c *checker) nodesThere() []*node {
	var out []*node
	for i := range c.s.Nodes {
		if !c.s.Nodes[i].Leaving {
			out = append(out, c.existing(&c.s.Nodes[i]))
		}
	}
	return out
}

// findKinds lists the kinds of nodes that pools can launch and on which some pod fits. If no rule and no pod can distinguish several kinds,
// findKinds keeps only the kinds with the most allocatable resources.
func (e *exhaustive) findKinds() {
	c := e.c
	texts := map[*node]string{}
	keys := c.topologyKeys()
	for key, np := range c.pools {
		for _, it := range c.typesOf(np) {
			for i := range it.Offerings {
				o := &it.Offerings[i]
				known, ok := c.nodeLabels(c.template(np, key), it, o)
				if !o.Available || !ok {
					continue
				}
				for _, decided := range c.decisions(known) {
					m := c.assumed(c.launched("", np, it, o, decided), np, it, o)
					text := fmt.Sprint(len(m.pods), m.volumes)
					useful := false
					for _, pod := range e.pods {
						fine := blocking(&pod.Spec, m.taints) == nil
						text += fmt.Sprint(fine, c.accepts(m.labels, &pod.Spec), ";")
						useful = useful || e.takes(m, pod)
					}
					for _, key := range sortedKeys(keys) {
						text += key + "=" + decided.get(key).only() + ";"
					}
					if useful {
						texts[m] = text
						e.keep(m, texts)
					}
				}
			}
		}
	}
	slices.SortFunc(e.kinds, func(a, b *node) int {
		return cmp.Or(cmp.Compare(texts[a], texts[b]), cmp.Compare(amountsText(a.room), amountsText(b.room)))
	})
}

// keep adds a kind of node. It does nothing if a known kind has at least as much room and rules can't distinguish the two kinds. It also
// drops known kinds that have no more room than the new kind and that rules can't distinguish from it.
func (e *exhaustive) keep(m *node, texts map[*node]string) {
	if slices.ContainsFunc(e.kinds, func(k *node) bool { return texts[k] == texts[m] && lackNew(m.room, k.room) == "" }) {
		return
	}
	e.kinds = slices.DeleteFunc(e.kinds, func(k *node) bool { return texts[k] == texts[m] && lackNew(k.room, m.room) == "" })
	e.kinds = append(e.kinds, m)
}

func sortedKeys(set map[string]bool) []string {
	var out []string
	for key := range set {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// choose tries all sets of n more nodes, of the kinds in e.kinds[at:].
func (e *exhaustive) choose(set []*node, at, n int) {
	if e.found != "" {
		return
	}
	if n == 0 {
		e.bind(set)
		return
	}
	for k := at; k < len(e.kinds); k++ {
		e.choose(append(slices.Clone(set), e.kinds[k]), k, n-1)
	}
}

// bind tries to bind the pods to the existing nodes and the nodes of the set, in all orders.
func (e *exhaustive) bind(set []*node) {
	w := &world{c: e.c, byName: map[string]*node{}}
	for _, m := range e.c.nodesThere() {
		w.add(m)
	}
	for i, kind := range set {
		m := *kind
		m.name, m.pods, m.taken = fmt.Sprintf("new-%d", i), slices.Clone(kind.pods), corev1.ResourceList{}
		w.add(&m)
	}
	at := make([]int, len(e.pods))
	for i := range at {
		at[i] = -1
	}
	e.step(w, set, at, map[string]bool{})
}

// step tries to bind one more pod to each possible node, and then continues with the next pod. The parameter at has, for each pod, the
// index of its node, or -1 if the pod is pending.
func (e *exhaustive) step(w *world, set []*node, at []int, seen map[string]bool) {
	if text := fmt.Sprint(at); seen[text] || e.found != "" {
		return
	} else {
		seen[text] = true
	}
	there := len(w.nodes) - len(set)
	idle := 0
	for i := range set {
		if !slices.Contains(at, there+i) {
			idle++
		}
	}
	if idle == 0 {
		if got := e.count(func(i int) bool { return at[i] >= 0 }); e.compare(got, e.best) > 0 {
			e.found = e.describe(w, at)
			return
		}
	}
	for i, pod := range e.pods {
		if at[i] >= 0 || slices.ContainsFunc(e.pods[:i], func(x *corev1.Pod) bool {
			j := slices.Index(e.pods, x)
			return e.alike[j] == e.alike[i] && at[j] < 0
		}) {
			continue // the pod is bound, or an equal pod must be bound first
		}
		for n, m := range w.nodes {
			if n > there && set[n-there] == set[n-there-1] && !slices.Contains(at, n-1) && !slices.Contains(at, n) {
				continue // if two new nodes are equal and empty, only the first of the two is tried
			}
			if w.refuses(m, pod) != "" {
				continue
			}
			pods, taken := m.pods, m.taken
			m.pods, m.taken = append(slices.Clone(pods), pod), copyOf(taken)
			plus(m.taken, requestsOf(pod))
			at[i] = n
			e.step(w, set, at, seen)
			at[i] = -1
			m.pods, m.taken = pods, taken
		}
	}
}

func (e *exhaustive) describe(w *world, at []int) string {
	var parts []string
	for i, pod := range e.pods {
		if at[i] >= 0 {
			m := w.nodes[at[i]]
			parts = append(parts, fmt.Sprintf("%s on %s (%s)", pod.Name, m.name, w.domain(m, corev1.LabelTopologyZone)))
		}
	}
	return strings.Join(parts, ", ")
}
