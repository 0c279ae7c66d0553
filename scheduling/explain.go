package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// writeUnschedulable lists the pods that are still waiting, with reasons made once per class.
func (t *Trial) writeUnschedulable(out *Plan, q *podQueues) {
	type waitingPod struct {
		at  int
		key PodKey
		c   int32
	}
	var list []waitingPod
	for c := range t.m.classes {
		if t.waiting[c] == 0 {
			continue
		}
		pending := t.m.classes[c].pending
		for i, key := range q.take(nil, int32(c), int(t.waiting[c])) {
			at := len(t.m.pods)
			if first := q.next[c] - int(t.waiting[c]) + i; first < len(pending) {
				at = int(pending[first])
			}
			list = append(list, waitingPod{at, key, int32(c)})
		}
	}
	slices.SortStableFunc(list, func(a, b waitingPod) int { return cmp.Compare(a.at, b.at) })
	reasons := map[int32][]Reason{}
	for _, w := range list {
		if _, ok := reasons[w.c]; !ok {
			reasons[w.c] = t.explain(w.c)
		}
		out.Unschedulable = append(out.Unschedulable, Unschedulable{Pod: w.key, Reasons: reasons[w.c]})
	}
}

// explain says, pool by pool, why pods of the class have no place.
func (t *Trial) explain(class int32) []Reason {
	m := t.m
	c := m.classes[class]
	if c.invalid != nil {
		return []Reason{{Code: ReasonPodInvalid, Detail: "the pod can't be planned: " + c.invalid.Error()}}
	}
	if len(m.pools) == 0 {
		return []Reason{{Code: ReasonNoNodePools}}
	}
	out := make([]Reason, 0, len(m.pools))
	for i := range m.pools {
		out = append(out, t.explainPool(c, int32(i)))
	}
	return out
}

func (t *Trial) explainPool(c *class, pl int32) Reason {
	m := t.m
	p, s := m.pools[pl], m.shapes[c.shape]
	if p.table == nil {
		return Reason{Pool: p.key, Code: ReasonNodePoolNotReady, Detail: "it launches no machines: " + p.notReady}
	}
	if taint := untolerated(s.tolerations, p.taints, true); taint != nil {
		return Reason{Pool: p.key, Code: ReasonTaint, Taint: taint}
	}
	if p.rows.empty() {
		return Reason{Pool: p.key, Code: ReasonNoInstanceTypes, Detail: fmt.Sprintf("the pool's own requirements leave none of its %d instance types with an available offering", len(p.table.catalog.types))}
	}
	var refused *Reason
	for _, term := range s.placeTerms() {
		if r := m.explainTerm(p, term); r != nil {
			if refused == nil {
				refused = r
			}
			continue
		}
		return t.explainTypes(c, pl, term)
	}
	if refused == nil {
		return Reason{Pool: p.key, Code: ReasonRequirements, Detail: "incompatible requirements: the pod and its volumes exclude each other's places"}
	}
	return *refused
}

// explainTerm is why the pool itself, machines aside, excludes the demand; nil if it doesn't.
func (m *Model) explainTerm(p *pool, term needs) *Reason {
	for _, r := range term {
		if reason := m.demandKey(p, r); reason != nil {
			return reason
		}
	}
	return nil
}

// explainTypes counts which check rules out each instance type of the pool.
func (t *Trial) explainTypes(c *class, pl int32, term needs) Reason {
	m := t.m
	p := m.pools[pl]
	tb := p.table
	rows, slots := fullBitset(len(tb.rows)), tb.catalog.allSlots.clone()
	for r := range p.template.All {
		m.narrow(p, r, rows, slots)
	}
	for _, r := range term {
		m.narrow(p, p.template.Get(r.Key()).Intersect(r), rows, slots)
	}
	dims := m.resources.len()
	out := Reason{Pool: p.key, Code: ReasonInstanceTypes, Requests: m.resources.list(c.requests)}
	furthest := map[int]int{} // type -> checks passed by its best row
	for r := range tb.rows {
		passed := 0
		switch {
		case !rows.has(r):
		case !fits(c.requests, tb.allocOf(r, dims)):
			passed = 1
		case !m.sellable(tb, r, slots):
			passed = 2
		default:
			passed = 3
		}
		typ := tb.catalog.variants[tb.rows[r].variant].typ
		furthest[typ] = max(furthest[typ], passed)
	}
	for _, passed := range furthest {
		switch passed {
		case 0:
			out.Removed.Requirements++
		case 1:
			out.Removed.Resources++
		case 2:
			out.Removed.Offering++
		default:
			out.Removed.Limits++
		}
	}
	if out.Removed.Limits > 0 {
		out.Code = ReasonLimits
		out.Detail = t.limitsDetail(pl)
	}
	return out
}

func (t *Trial) limitsDetail(pl int32) string {
	p := t.m.pools[pl]
	if p.limits == nil {
		return "no machine was left for it"
	}
	var parts []string
	for i, name := range p.limits.names {
		used, limit := quantity(name, t.usage[pl][i]), quantity(name, p.limits.max[i])
		parts = append(parts, fmt.Sprintf("%s %s of %s", name, used.String(), limit.String()))
	}
	return "all instance types that would fit exceed the nodepool's limits (in use: " + strings.Join(parts, ", ") + ")"
}

// instanceTypes makes the sentence of ReasonInstanceTypes.
func (r Reason) instanceTypes() string {
	total := r.Removed.Requirements + r.Removed.Resources + r.Removed.Offering
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(r.Removed.Requirements, "don't meet the requirements")
	add(r.Removed.Resources, "are too small for "+requestsString(r.Requests))
	add(r.Removed.Offering, "have no available offering that meets the requirements")
	text := fmt.Sprintf("no instance type fits: of %d, %s", total, strings.Join(parts, ", "))
	if cpu := r.Requests[corev1.ResourceCPU]; cpu.CmpInt64(1_000_000) >= 0 {
		text += "; check the unit of cpu: 1000m is one core"
	}
	return text
}

func requestsString(list corev1.ResourceList) string {
	parts := make([]string, 0, len(list))
	for _, name := range sortedNames(list) {
		q := list[name]
		parts = append(parts, string(name)+" "+q.String())
	}
	return strings.Join(parts, ", ")
}
