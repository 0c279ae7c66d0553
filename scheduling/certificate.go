package scheduling

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// proof is a problem and the values that bound it from below.
type proof struct {
	p *offers.Choice
	v *pricing.Values
}

// proofOf returns the problem of placing what the trial put on new nodes, with values for it.
func (t *Trial) proofOf(ctx context.Context) *proof {
	if t.proof != nil {
		return t.proof
	}
	counts := map[[2]int32]int{}
	for _, b := range t.s.Placed {
		if b.Host >= int32(len(t.m.c.Nodes)) && b.Count > 0 {
			counts[[2]int32{b.Class, b.Stage}] += int(b.Count)
		}
	}
	var items []pricing.Item
	for key, n := range counts {
		it := t.m.provable(key[0], key[1], n)
		if t.s.Tight > 0 && it.PerNode != pricing.Unbounded {
			// Where all nodes have some, one may have more of them than a spread allows next to an empty one.
			full := func(int32) int32 { return math.MaxInt32 / 2 }
			it.Topology = nil
			it.PerNode = topology.AdmitsHostAbove(t.m.c.Topology, t.m.c.Classes[key[0]].Topology, func(int32) topology.Tally { return topology.Tally{} }, full)
			if t.m.keptApartByZone(t.m.c.Classes[key[0]].Topology) {
				it.PerNode = min(it.PerNode, 1)
			}
		}
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b pricing.Item) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Stage, b.Stage))
	})
	p := t.newProof(items)
	t.seedProof(p)
	for i := range t.s.Planned {
		p.Planned += float64(t.s.Planned[i].Price)
	}
	return &proof{p, pricing.Find(ctx, &p.Problem).Best()}
}

// seedProof gives the proof's linear program the planned nodes' fillings to begin with: the mix is then as cheap as the plan from the
// start.
func (t *Trial) seedProof(p *offers.Choice) {
	if len(p.Items) < pricing.FewItems {
		return
	}
	itemOf := map[[2]int32]int32{} // by class and stage
	for k, parts := range p.Alike.Parts {
		for _, i := range parts {
			it := &p.Alike.Given[i]
			itemOf[[2]int32{it.Class, it.Stage}] = int32(k)
		}
	}
	type bought struct{ pool, row int32 }
	options := map[bought][]int32{}
	note := func(k bought, o int32) {
		if !p.Options[o].Limited && !slices.Contains(options[k], o) {
			options[k] = append(options[k], o)
		}
	}
	for o := range p.Options {
		note(bought{p.Options[o].Pool, p.Options[o].Row}, int32(o))
	}
	for i := range p.Dominated {
		d := &p.Dominated[i]
		note(bought{d.Pool, d.Row}, int32(d.By))
	}
	places := pricing.PlacesInUse(p.Items)
	for i, bindings := range t.s.Loads(0) {
		var s pricing.Seed
		for _, b := range bindings {
			if item, ok := itemOf[[2]int32{b.Class, b.Stage}]; ok {
				s.Load = append(s.Load, pricing.Load{Item: item, Count: b.Count})
			}
		}
		for _, o := range options[bought{t.s.Planned[i].Pool, t.s.Planned[i].Row}] {
			open := func(l pricing.Load) bool { return p.Options[o].Open.Has(slices.Index(places, p.Items[l.Item].Place)) }
			if len(s.Load) > 0 && !slices.ContainsFunc(s.Load, func(l pricing.Load) bool { return !open(l) }) {
				s.Option = o
				p.Seeds = append(p.Seeds, s)
				break
			}
		}
	}
}

// provable is the item of a class for a proof: in any cell its stage allows, and as many on a node as its own rules
// allow; rules between classes are left out, which can only lower the bound.
func (m *Model) provable(class, stage int32, count int) pricing.Item {
	c := m.c.Classes[class]
	it := pricing.Item{Class: class, Place: pricing.Place{Stage: stage, Cell: layout.AnyCell}, Count: count, Need: c.Unshared(), PerNode: pricing.Unbounded, Topology: c.Topology}
	if c.Topology != nil {
		it.PerNode = topology.AdmitsHost(m.c.Topology, c.Topology, func(int32) topology.Tally { return topology.Tally{} })
	}
	if m.keptApartByZone(c.Topology) {
		it.PerNode = min(it.PerNode, 1)
	}
	return it
}

// countsTooFew reports whether some nodes may have more devices than packing counts on: a bound by these counts is none.
func (m *Model) countsTooFew() bool {
	return slices.ContainsFunc(m.c.Pools, func(p *nodepool.Pool) bool { return p.Table != nil && p.Table.CountsTooFew() })
}

// keptApartByZone reports whether no two pods under the rules can share a new node, since they can't share a zone and each new node is
// in one.
func (m *Model) keptApartByZone(o *topology.Groups) bool {
	return o != nil && slices.ContainsFunc(o.Owns, func(g int32) bool {
		group := &m.c.Topology[g]
		return group.Kind == topology.Anti && group.Hard && group.Key == corev1.LabelTopologyZone && topology.Contains(o.In, g)
	}) && !slices.ContainsFunc(m.c.Pools, func(p *nodepool.Pool) bool {
		return p.Table != nil && slices.ContainsFunc(p.Table.Catalog.Slots, func(s market.Slot) bool { return s.Zone == "" })
	})
}

// ruled reports whether rules of the query keep some item from nodes that it may end on all the same: a bound over
// what is left is none over what a plan may cost.
func (m *Model) ruled(items []pricing.Item) bool {
	return slices.ContainsFunc(items, func(it pricing.Item) bool {
		return it.Rules&pricing.ReservedOnly != 0 || it.Rules&pricing.VarietyKept != 0 &&
			slices.ContainsFunc(m.c.Stages[it.Stage].Uses, func(u podclass.Use) bool { return len(m.c.Pools[u.Pool].Variety) > 0 })
	})
}

// certificate writes the proof down: one class per item, or for those that it counts together; one type per instance type that could be used, with the
// multipliers of an option or of the one that dominates it, or several where no multipliers will do for all of the type's
// options; and what is limited, with the options that draw on it.
func (m *Model) certificate(pf *proof) *Certificate {
	out := &Certificate{}
	proven := &pf.v.Certified
	caps := pf.p.Caps
	for k := range caps {
		out.Rules = append(out.Rules, m.ruleOf(&caps[k], ruleName(k)))
	}
	m.certificateClasses(out, pf)
	w := pricing.NewWorths(&pf.p.Problem)
	at, kinds := map[string]int{}, [][]typeProof{}
	note := func(o *pricing.Option, proof int) {
		if o.Limited {
			return // it is among the limits, or no cheaper than what dominates it
		}
		name := m.typeNameOf(o)
		i, known := at[name]
		if !known {
			i = len(kinds)
			at[name], kinds = i, append(kinds, nil)
		}
		if !slices.ContainsFunc(kinds[i], func(k typeProof) bool { return slices.Equal(k.option.Alloc, o.Alloc) }) {
			k := typeProof{option: o, lambda: pf.v.Lambda[proof*pf.p.Dims : (proof+1)*pf.p.Dims]}
			if pf.v.Whole != nil {
				k.whole = pf.v.Whole[proof]
			}
			kinds[i] = append(kinds[i], k)
		}
	}
	for i := range pf.p.Options {
		note(&pf.p.Options[i], i)
	}
	for i := range pf.p.Dominated {
		note(pf.p.Dominated[i].Option, pf.p.Dominated[i].By)
	}
	for _, list := range kinds {
		for _, k := range enoughOf(w, list, proven) {
			t := m.certificateType(k.option, k.lambda, proven.Scale, caps)
			t.Whole = m.wholeCounts(&k.whole)
			out.Types = append(out.Types, t)
		}
	}
	slices.SortStableFunc(out.Types, func(a, b CertificateType) int { return cmp.Compare(a.Name, b.Name) })
	for i := range proven.Limits {
		if l := &proven.Limits[i]; proven.Scale > 0 {
			out.Limits = append(out.Limits, m.certificateLimit(l, proven.Scale, caps))
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
	caps, bundles, written := pf.p.Caps, pf.v.Bundles(), map[together]int{}
	for i, it := range pf.p.Items {
		value := pf.v.Certified.Item[i]
		class := CertificateClass{Requests: m.c.CertificateRequests(m.c.Classes[it.Class]), Count: it.Count, Value: float64(value) / market.NanoPerUSD}
		for k, n := range it.Need[pf.p.Dims-len(caps):] {
			takeRule(&class, ruleName(k), n)
		}
		if it.PerNode < it.Count {
			name := ruleName(len(out.Rules))
			out.Rules = append(out.Rules, CertificateRule{Name: name, Rule: fmt.Sprintf("one class of pods: %d on a node", it.PerNode), Amount: int64(it.PerNode)})
			takeRule(&class, name, 1)
		}
		if bundle := bundles[i]; bundle > 0 {
			with := together{bundle, value}
			if at, known := written[with]; known {
				joinClasses(&out.Classes[at], &class)
				continue
			}
			written[with] = len(out.Classes)
		}
		out.Classes = append(out.Classes, class)
	}
}

// takeRule has each pod of the class take so much of the rule's amount.
func takeRule(c *CertificateClass, rule string, n int64) {
	if n <= 0 {
		return
	}
	if c.Takes == nil {
		c.Takes = map[string]int64{}
	}
	c.Takes[rule] = n
}

// joinClasses adds to c the pods of a class with equal requests and value. Of rules, whose multipliers are 0 where the two differ, all take what those
// take that take least.
func joinClasses(c, o *CertificateClass) {
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
	option *pricing.Option
	lambda []float64
	// whole are the resources that it counts in whole pods.
	whole pricing.WholeCount
}

// enoughOf is one proof of the list if it is enough for all of its options, else the whole list. Options of one instance type
// differ where what it holds depends on how it is bought, or on the pool's DaemonSets.
func enoughOf(w *pricing.Worths, list []typeProof, proven *pricing.Certified) []typeProof {
	for _, k := range list {
		if len(list) == 1 || !slices.ContainsFunc(list, func(other typeProof) bool {
			return w.Of(other.option, proven.Item, k.lambda, proven.Scale) > float64(other.option.Price)*(1+1e-9)+1
		}) {
			return []typeProof{{list[0].option, k.lambda, k.whole}}
		}
	}
	return list
}

// typeNameOf is the name of the option's instance type.
func (m *Model) typeNameOf(o *pricing.Option) string {
	t := m.c.Pools[o.Pool].Table
	return t.Catalog.Types[t.Catalog.Variants[t.Rows[o.Row].Variant].Type].Name
}

// certificateType is an option with resource prices l, scaled.
func (m *Model) certificateType(o *pricing.Option, l []float64, scale float64, caps []offers.Cap) CertificateType {
	out := CertificateType{Name: m.typeNameOf(o), Price: float64(o.Price) / market.NanoPerUSD, Multipliers: map[corev1.ResourceName]float64{}}
	for d, resource := range m.c.Resources.Names {
		x := l[d] * scale / market.NanoPerUSD
		if resource == corev1.ResourceCPU {
			x *= 1000 // per core, not per millicore
		}
		if x > 0 {
			out.Multipliers[resource] = x
		}
	}
	for k := range caps {
		if x := l[m.c.Resources.Len()+k] * scale / market.NanoPerUSD; x > 0 {
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

func (m *Model) certificateLimit(l *pricing.LimitedUse, scale float64, caps []offers.Cap) CertificateLimit {
	out := CertificateLimit{Reservation: l.Reservation, Amount: float64(l.Left), Value: l.Value / market.NanoPerUSD}
	unit := 1.0
	if l.Commitment > 0 {
		out.Commitment = m.c.Costs.Terms[m.c.Costs.Commitments[l.Commitment-1]].Name
		unit = market.Whole
		out.Amount, out.Value = out.Amount/unit, out.Value*unit
	}
	for _, d := range l.Draws {
		out.Types = append(out.Types, CertificateDraw{CertificateType: m.certificateType(d.Option, d.Lambda, scale, caps), Uses: d.Used / unit})
	}
	slices.SortStableFunc(out.Types, func(a, b CertificateDraw) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ruleOf is what a certificate says of the cap.
func (m *Model) ruleOf(c *offers.Cap, name string) CertificateRule {
	if c.Unit == 0 {
		return CertificateRule{Name: name, Rule: c.Sentence(m.c.Topology), Amount: c.Amount}
	}
	of := m.c.Resources.Names[c.Resource]
	unit := resource.NewQuantity(c.Unit, resource.BinarySI)
	if of == corev1.ResourceCPU {
		unit = resource.NewMilliQuantity(c.Unit, resource.DecimalSI)
	}
	return CertificateRule{Name: name, Rule: fmt.Sprintf("%s in whole units of %s, rounded down", of, unit), Resource: of, Unit: *unit}
}
