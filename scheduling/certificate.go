package scheduling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// proof is a problem and the values that bound it from below.
type proof struct {
	p *problem
	v *values
}

// proofOf returns the problem of placing what the trial put on new nodes, with values for it.
func (t *Trial) proofOf(ctx context.Context) *proof {
	if t.proof != nil {
		return t.proof
	}
	counts := map[[2]int32]int{}
	for _, b := range t.placed {
		if b.host >= int32(len(t.m.nodes)) && b.count > 0 {
			counts[[2]int32{b.class, b.stage}] += int(b.count)
		}
	}
	var items []item
	for key, n := range counts {
		it := t.m.provable(key[0], key[1], n)
		if t.tight > 0 && it.perMachine != unbounded {
			// Where all nodes have some, one may have more of them than a spread allows next to an empty one.
			full := func(int32) int32 { return math.MaxInt32 / 2 }
			it.topology = nil
			it.perMachine = topology.AdmitsHostAbove(t.m.topology, t.m.classes[key[0]].Topology, func(int32) topology.Tally { return topology.Tally{} }, full)
		}
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.stage, b.stage)) })
	p := t.newProof(items)
	t.seedProof(p)
	for i := range t.machines {
		p.planned += float64(t.machines[i].price)
	}
	return &proof{p, t.m.findValues(ctx, p).best()}
}

// seedProof gives the proof's linear program the planned nodes' fillings to begin with: the mix is then as cheap as the plan from the
// start.
func (t *Trial) seedProof(p *problem) {
	if len(p.items) < fewItems {
		return
	}
	itemOf := map[[2]int32]int32{} // by class and stage
	for k, parts := range p.alike.parts {
		for _, i := range parts {
			it := &p.alike.given[i]
			itemOf[[2]int32{it.class, it.stage}] = int32(k)
		}
	}
	type bought struct{ pool, row int32 }
	options := map[bought][]int32{}
	note := func(k bought, o int32) {
		if !p.options[o].limited && !slices.Contains(options[k], o) {
			options[k] = append(options[k], o)
		}
	}
	for o := range p.options {
		note(bought{p.options[o].pool, p.options[o].row}, int32(o))
	}
	for i := range p.dominated {
		d := &p.dominated[i]
		note(bought{d.pool, d.row}, int32(d.by))
	}
	places := placesInUse(p.items)
	for i, bindings := range t.loads(0) {
		var s seed
		for _, b := range bindings {
			if item, ok := itemOf[[2]int32{b.class, b.stage}]; ok {
				s.load = append(s.load, load{item, b.count})
			}
		}
		for _, o := range options[bought{t.machines[i].pool, t.machines[i].row}] {
			open := func(l load) bool { return p.options[o].open.Has(slices.Index(places, p.items[l.item].place)) }
			if len(s.load) > 0 && !slices.ContainsFunc(s.load, func(l load) bool { return !open(l) }) {
				s.option = o
				p.seeds = append(p.seeds, s)
				break
			}
		}
	}
}

// provable is the item of a class for a proof: in any cell its stage allows, and as many on a node as its own rules
// allow; rules between classes are left out, which can only lower the bound.
func (m *Model) provable(class, stage int32, count int) item {
	c := m.classes[class]
	it := item{class: class, place: place{stage: stage, cell: layout.AnyCell}, count: count, need: c.Unshared(), perMachine: unbounded, topology: c.Topology}
	if c.Topology != nil {
		it.perMachine = topology.AdmitsHost(m.topology, c.Topology, func(int32) topology.Tally { return topology.Tally{} })
	}
	return it
}

// ruled reports whether rules of the query keep some item from nodes that it may end on all the same: a bound over
// what is left is none over what a plan may cost.
func (m *Model) ruled(items []item) bool {
	return slices.ContainsFunc(items, func(it item) bool {
		return it.rules&reservedOnly != 0 || it.rules&varietyKept != 0 &&
			slices.ContainsFunc(m.stages[it.stage].Uses, func(u podclass.Use) bool { return len(m.pools[u.Pool].Variety) > 0 })
	})
}

// certificate writes the proof down: one class per item, or for those that it counts together; one type per instance type that could be used, with the
// multipliers of an option or of the one that dominates it, or several where no multipliers will do for all of the type's
// options; and what is limited, with the options that draw on it.
func (m *Model) certificate(pf *proof) *Certificate {
	out := &Certificate{}
	proven := &pf.v.certified
	caps := pf.p.caps
	for k := range caps {
		out.Rules = append(out.Rules, caps[k].rule(m, ruleName(k)))
	}
	m.certificateClasses(out, pf)
	w := newWorths(pf.p)
	at, kinds := map[string]int{}, [][]typeProof{}
	note := func(o *option, proof int) {
		if o.limited {
			return // it is among the limits, or no cheaper than what dominates it
		}
		name := m.typeNameOf(o)
		i, known := at[name]
		if !known {
			i = len(kinds)
			at[name], kinds = i, append(kinds, nil)
		}
		if !slices.ContainsFunc(kinds[i], func(k typeProof) bool { return slices.Equal(k.option.alloc, o.alloc) }) {
			kinds[i] = append(kinds[i], typeProof{o, pf.v.lambda[proof*pf.p.dims : (proof+1)*pf.p.dims]})
		}
	}
	for i := range pf.p.options {
		note(&pf.p.options[i], i)
	}
	for i := range pf.p.dominated {
		note(pf.p.dominated[i].option, pf.p.dominated[i].by)
	}
	for _, list := range kinds {
		for _, k := range w.enoughOf(list, proven) {
			out.Types = append(out.Types, m.certificateType(k.option, k.lambda, proven.scale, caps))
		}
	}
	slices.SortStableFunc(out.Types, func(a, b CertificateType) int { return cmp.Compare(a.Name, b.Name) })
	for i := range proven.limits {
		if l := &proven.limits[i]; proven.scale > 0 {
			out.Limits = append(out.Limits, m.certificateLimit(l, proven.scale, caps))
		}
	}
	return out
}

// certificateClasses writes the items down. Those of one bundle the proof counts together: a node holds so many of them in all, not so
// many of each.
func (m *Model) certificateClasses(out *Certificate, pf *proof) {
	type together struct {
		bundle int
		value  int64
	}
	caps, bundles, written := pf.p.caps, pf.v.bundles(), map[together]int{}
	for i, it := range pf.p.items {
		value := pf.v.certified.item[i]
		class := CertificateClass{Requests: m.certificateRequests(m.classes[it.class]), Count: it.count, Value: float64(value) / market.NanoPerUSD}
		for k, n := range it.need[pf.p.dims-len(caps):] {
			class.take(ruleName(k), n)
		}
		if it.perMachine < it.count {
			name := ruleName(len(out.Rules))
			out.Rules = append(out.Rules, CertificateRule{Name: name, Rule: fmt.Sprintf("one class of pods: %d on a node", it.perMachine), Amount: int64(it.perMachine)})
			class.take(name, 1)
		}
		if bundle := bundles[i]; bundle > 0 {
			with := together{bundle, value}
			if at, known := written[with]; known {
				out.Classes[at].join(&class)
				continue
			}
			written[with] = len(out.Classes)
		}
		out.Classes = append(out.Classes, class)
	}
}

// bundles is indexed like the items of the values' problem: the number, from 1 on, of the bundle of items with equal needs that the
// item is in; 0 for none.
func (v *values) bundles() []int {
	out := make([]int, len(v.item))
	if v.pricing == nil {
		return out
	}
	for b := range v.pricing.bundles {
		if bn := &v.pricing.bundles[b]; bn.uniform {
			for _, i := range bn.items {
				out[i] = b + 1
			}
		}
	}
	return out
}

// take has each pod of the class take so much of the rule's amount.
func (c *CertificateClass) take(rule string, n int64) {
	if n <= 0 {
		return
	}
	if c.Takes == nil {
		c.Takes = map[string]int64{}
	}
	c.Takes[rule] = n
}

// join adds the pods of a class with equal requests and value. Of rules, whose multipliers are 0 where the two differ, all take what those
// take that take least.
func (c *CertificateClass) join(o *CertificateClass) {
	c.Count += o.Count
	for rule, n := range c.Takes {
		if c.Takes[rule] = min(n, o.Takes[rule]); c.Takes[rule] == 0 {
			delete(c.Takes, rule)
		}
	}
	if len(c.Takes) == 0 {
		c.Takes = nil
	}
}

// typeProof is an option with resource prices that prove what it can hold.
type typeProof struct {
	option *option
	lambda []float64
}

// enoughOf is one proof of the list if it is enough for all of its options, else the whole list. Options of one instance type
// differ where what it holds depends on how it is bought, or on the pool's DaemonSets.
func (w *worths) enoughOf(list []typeProof, proven *certified) []typeProof {
	for _, k := range list {
		if len(list) == 1 || !slices.ContainsFunc(list, func(other typeProof) bool {
			return w.of(other.option, proven.item, k.lambda, proven.scale) > float64(other.option.price)*(1+1e-9)+1
		}) {
			return []typeProof{{list[0].option, k.lambda}}
		}
	}
	return list
}

// typeNameOf is the name of the option's instance type.
func (m *Model) typeNameOf(o *option) string {
	t := m.pools[o.pool].Table
	return t.Catalog.Types[t.Catalog.Variants[t.Rows[o.row].Variant].Type].Name
}

// certificateType is an option with resource prices l, scaled.
func (m *Model) certificateType(o *option, l []float64, scale float64, caps []hostCap) CertificateType {
	out := CertificateType{Name: m.typeNameOf(o), Price: float64(o.price) / market.NanoPerUSD, Multipliers: map[corev1.ResourceName]float64{}}
	for d, resource := range m.resources.Names {
		x := l[d] * scale / market.NanoPerUSD
		if resource == corev1.ResourceCPU {
			x *= 1000 // per core, not per millicore
		}
		if x > 0 {
			out.Multipliers[resource] = x
		}
	}
	for k := range caps {
		if x := l[m.resources.Len()+k] * scale / market.NanoPerUSD; x > 0 {
			if out.RuleMultipliers == nil {
				out.RuleMultipliers = map[string]float64{}
			}
			out.RuleMultipliers[ruleName(k)] = x
		}
	}
	return out
}

// ruleName is what a certificate calls the cap of that number.
func ruleName(k int) string { return fmt.Sprintf("rule-%d", k+1) }

func (m *Model) certificateLimit(l *limitedUse, scale float64, caps []hostCap) CertificateLimit {
	out := CertificateLimit{Reservation: l.reservation, Amount: float64(l.left), Value: l.value / market.NanoPerUSD}
	unit := 1.0
	if l.commitment > 0 {
		out.Commitment = m.costs.Terms[m.costs.Commitments[l.commitment-1]].Name
		unit = market.Whole
		out.Amount, out.Value = out.Amount/unit, out.Value*unit
	}
	for _, d := range l.draws {
		out.Types = append(out.Types, CertificateDraw{CertificateType: m.certificateType(d.option, d.lambda, scale, caps), Uses: d.used / unit})
	}
	slices.SortStableFunc(out.Types, func(a, b CertificateDraw) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
