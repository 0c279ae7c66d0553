package certify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// ProofOf returns a proof for the pods that the trial put on new nodes. A proof is the problem of placing these pods, with a value for each
// item. The parameter order is a function that returns the order in which pods are bound.
func (t Certifying) ProofOf(ctx context.Context, order func() []state.Binding) *trial.Proof {
	if t.Proof != nil && t.M.Gangs == nil {
		return t.Proof
	}
	var items []pricing.Item
	for key, n := range t.placedOnNew(order) {
		it := valuing.Provable(t.M, key[0], key[1], n)
		if t.S.Tight > 0 && it.PerNode != pricing.Unbounded {
			// A spread constraint over nodes allows the most pods on one node if all other nodes are full of such pods. PerNode must be an
			// upper bound, so it is computed for that case.
			full := func(int32) int32 { return math.MaxInt32 / 2 }
			it.Topology = nil
			it.PerNode = topology.AdmitsHostAbove(t.M.Topology, t.M.Classes[key[0]].Topology, func(int32) topology.Tally { return topology.Tally{} }, full)
			if valuing.KeptApartByZone(t.M, t.M.Classes[key[0]].Topology) {
				it.PerNode = min(it.PerNode, 1)
			}
		}
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b pricing.Item) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), cmp.Compare(a.Stage, b.Stage))
	})
	p := valuing.Of(t.Trial).NewProof(items)
	t.seedProof(p)
	for i := range t.S.Planned {
		p.Planned += float64(t.S.Planned[i].Price)
	}
	return &trial.Proof{P: p, V: pricing.Find(ctx, &p.Problem).Best()}
}

// seedProof adds the fillings of the planned nodes to the proof's linear program, so that its first solution is as cheap as the plan.
func (t Certifying) seedProof(p *offers.Choice) {
	if len(p.Items) < pricing.FewItems {
		return
	}
	itemOf := map[[2]int32]int32{} // indexes in p.Items, by class and stage
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
	for i, bindings := range t.S.Placed.Loads(0) {
		var s pricing.Seed
		for _, b := range bindings {
			if item, ok := itemOf[[2]int32{b.Class, b.Stage}]; ok {
				s.Load = append(s.Load, pricing.Load{Item: item, Count: b.Count})
			}
		}
		for _, o := range options[bought{t.S.Planned[i].Pool, t.S.Planned[i].Row}] {
			open := func(l pricing.Load) bool { return p.Options[o].Open.Has(slices.Index(places, p.Items[l.Item].Place)) }
			if len(s.Load) > 0 && !slices.ContainsFunc(s.Load, func(l pricing.Load) bool { return !open(l) }) {
				s.Option = o
				p.Seeds = append(p.Seeds, s)
				break
			}
		}
	}
}

// CountsTooFew reports whether some nodes may have more devices than the planner counts when it fills nodes. A lower bound computed from
// such counts would not be valid.
func CountsTooFew(m *model.Model) bool {
	return slices.ContainsFunc(m.Pools, func(p *nodepool.Pool) bool { return p.Table != nil && p.Table.CountsTooFew() })
}

// Ruled reports whether rules of the query exclude some item from nodes on which a plan may still place this item. A bound that is computed
// without these nodes is not a lower bound on the cost of a plan.
func Ruled(m *model.Model, items []pricing.Item) bool {
	for i := range items {
		it := &items[i]
		if it.Rules&pricing.ReservedOnly != 0 || it.Rules&pricing.VarietyKept != 0 &&
			slices.ContainsFunc(m.Stages[it.Stage].Uses, func(u podclass.Use) bool { return len(m.Pools[u.Pool].Variety) > 0 }) {
			return true
		}
	}
	return false
}

// Certificate converts the proof to a planning.Certificate. The certificate has one class for each item. Items that the proof counts
// together share a class. It has one type for each usable instance type, with multipliers of one of the type's options, or of an option
// that dominates this one. If no multipliers are valid for all options of an instance type, the certificate has several types for it. The
// certificate also lists the limits, and which options use each limit.
func Certificate(m *model.Model, pf *trial.Proof) *planning.Certificate {
	out := &planning.Certificate{}
	proven := &pf.V.Certified
	caps := pf.P.Caps
	for k := range caps {
		out.Rules = append(out.Rules, ruleOf(m, &caps[k], ruleName(k)))
	}
	certificateClasses(m, out, pf)
	w := pricing.NewWorths(&pf.P.Problem)
	at, kinds := map[string]int{}, [][]typeProof{}
	note := func(o *pricing.Option, proof int) {
		if o.Limited {
			return // an option of a reservation is written as one of the limits, or an option that costs no more dominates it
		}
		name := nameOfType(m, o)
		i, known := at[name]
		if !known {
			i = len(kinds)
			at[name], kinds = i, append(kinds, nil)
		}
		if !slices.ContainsFunc(kinds[i], func(k typeProof) bool { return slices.Equal(k.option.Alloc, o.Alloc) }) {
			k := typeProof{option: o, lambda: pf.V.Lambda[proof*pf.P.Dims : (proof+1)*pf.P.Dims]}
			if pf.V.Whole != nil {
				k.whole = pf.V.Whole[proof]
			}
			kinds[i] = append(kinds[i], k)
		}
	}
	for i := range pf.P.Options {
		note(&pf.P.Options[i], i)
	}
	for i := range pf.P.Dominated {
		note(pf.P.Dominated[i].Option, pf.P.Dominated[i].By)
	}
	for _, list := range kinds {
		for _, k := range enoughOf(w, list, proven) {
			t := certificateType(m, k.option, k.lambda, proven.Scale, caps)
			t.Whole = wholeCounts(m, &k.whole)
			out.Types = append(out.Types, t)
		}
	}
	slices.SortStableFunc(out.Types, func(a, b planning.CertificateType) int { return cmp.Compare(a.Name, b.Name) })
	for i := range proven.Limits {
		if l := &proven.Limits[i]; proven.Scale > 0 {
			out.Limits = append(out.Limits, certificateLimit(m, l, proven.Scale, caps))
		}
	}
	return out
}

// certificateClasses converts the items to classes. Items of one bundle that have the same value become one class: the proof limits the
// total number of these items on a node, not the number of each item.
func certificateClasses(m *model.Model, out *planning.Certificate, pf *trial.Proof) {
	type together struct {
		bundle int
		value  int64
	}
	caps, bundles, written := pf.P.Caps, pf.V.Bundles(), map[together]int{}
	for i, it := range pf.P.Items {
		value := pf.V.Certified.Item[i]
		class := planning.CertificateClass{Requests: m.CertificateRequests(m.Classes[it.Class]), Count: it.Count, Value: float64(value) / market.NanoPerUSD}
		for k, n := range it.Need[pf.P.Dims-len(caps):] {
			takeRule(&class, ruleName(k), n)
		}
		if it.PerNode < it.Count {
			name := ruleName(len(out.Rules))
			out.Rules = append(out.Rules, planning.CertificateRule{Name: name, Rule: fmt.Sprintf("one class of pods: %d on a node", it.PerNode), Amount: int64(it.PerNode)})
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

// takeRule records in the class the amount n of the rule that each of its pods takes. It does nothing if n is not positive.
func takeRule(c *planning.CertificateClass, rule string, n int64) {
	if n <= 0 {
		return
	}
	if c.Takes == nil {
		c.Takes = map[string]int64{}
	}
	c.Takes[rule] = n
}

// joinClasses adds the pods of the class o to the class c, which has equal requests and value. If the pods take different amounts of a
// rule, the joined class takes the smaller amount, and the rule's multipliers are 0.
func joinClasses(c, o *planning.CertificateClass) {
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

// typeProof is an option of an instance type, with a price for each resource (lambda). These prices prove an upper bound on the value of
// the pods that one node of the option can hold.
type typeProof struct {
	option *pricing.Option
	lambda []float64
	// whole lists the resources that the proof counts in whole pods.
	whole pricing.WholeCount
}

// enoughOf returns a single proof of the list if that proof is valid for all options of the type. If no proof is valid for all of them, it
// returns the whole list. Options of one instance type differ if their allocatable amounts depend on the offering or on the pool's
// DaemonSets.
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

// nameOfType returns the name of the option's instance type.
func nameOfType(m *model.Model, o *pricing.Option) string {
	t := m.Pools[o.Pool].Table
	return t.Catalog.Types[t.Catalog.Variants[t.Rows[o.Row].Variant].Type].Name
}

// certificateType returns the certificate's type for the option o with the scaled resource prices l.
func certificateType(m *model.Model, o *pricing.Option, l []float64, scale float64, caps []offers.Cap) planning.CertificateType {
	out := planning.CertificateType{Name: nameOfType(m, o), Price: float64(o.Price) / market.NanoPerUSD, Multipliers: map[corev1.ResourceName]float64{}}
	for d, resource := range m.Resources.Names {
		x := l[d] * scale / market.NanoPerUSD
		if resource == corev1.ResourceCPU {
			x *= 1000 // the certificate counts cores, not millicores
		}
		if x > 0 {
			out.Multipliers[resource] = x
		}
	}
	for k := range caps {
		if x := l[m.Resources.Len()+k] * scale / market.NanoPerUSD; x > 0 {
			if out.RuleMultipliers == nil {
				out.RuleMultipliers = map[string]float64{}
			}
			out.RuleMultipliers[ruleName(k)] = x
		}
	}
	return out
}

// ruleName returns the name that the limit with index k has in a certificate.
func ruleName(k int) string { return fmt.Sprintf("rule-%d", k+1) }

func certificateLimit(m *model.Model, l *pricing.LimitedUse, scale float64, caps []offers.Cap) planning.CertificateLimit {
	out := planning.CertificateLimit{Reservation: l.Reservation, Amount: float64(l.Left), Value: l.Value / market.NanoPerUSD}
	unit := 1.0
	if l.Commitment > 0 {
		out.Commitment = m.Costs.Terms[m.Costs.Commitments[l.Commitment-1]].Name
		unit = market.Whole
		out.Amount, out.Value = out.Amount/unit, out.Value*unit
	}
	for _, d := range l.Draws {
		out.Types = append(out.Types, planning.CertificateDraw{CertificateType: certificateType(m, d.Option, d.Lambda, scale, caps), Uses: d.Used / unit})
	}
	slices.SortStableFunc(out.Types, func(a, b planning.CertificateDraw) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// ruleOf converts the limit c (an offers.Cap) to a rule of a certificate.
func ruleOf(m *model.Model, c *offers.Cap, name string) planning.CertificateRule {
	if c.Unit == 0 {
		return planning.CertificateRule{Name: name, Rule: c.Sentence(m.Topology), Amount: c.Amount}
	}
	of := m.Resources.Names[c.Resource]
	unit := resource.NewQuantity(c.Unit, resource.BinarySI)
	if of == corev1.ResourceCPU {
		unit = resource.NewMilliQuantity(c.Unit, resource.DecimalSI)
	}
	return planning.CertificateRule{Name: name, Rule: fmt.Sprintf("%s in whole units of %s, rounded down", of, unit), Resource: of, Unit: *unit}
}
