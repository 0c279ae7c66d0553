package scheduling

import (
	"cmp"
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// proof is a problem and the values that bound it from below.
type proof struct {
	p *problem
	v *values
}

// proofOf returns the problem of placing what the trial put on new machines, with values for it.
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
			// Where all machines have some, one may have more of them than a spread allows beside an empty machine.
			full := func(int32) int32 { return math.MaxInt32 / 2 }
			it.perMachine = admitsHostAbove(t.m, t.m.classes[key[0]].topology, func(int32) tally { return tally{} }, full)
		}
		items = append(items, it)
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.stage, b.stage)) })
	p := t.m.newProblem(items, nil)
	return &proof{p, t.m.findValues(ctx, p)}
}

// provable is the item of a class for a proof: in any cell its stage allows, and as many on a machine as its own rules
// allow; rules between classes are left out, which can only lower the bound.
func (m *Model) provable(class, stage int32, count int) item {
	c := m.classes[class]
	it := item{class: class, place: place{stage: stage, cell: anyCell}, count: count, need: c.unshared(), perMachine: unbounded}
	if c.topology != nil {
		it.perMachine = admitsHost(m, c.topology, func(int32) tally { return tally{} })
	}
	return it
}

// certificate writes the proof down: one class per item, one type per instance type that could be used, with the
// multipliers of its cheapest option or of the option that dominates it.
func (m *Model) certificate(pf *proof) *Certificate {
	out := &Certificate{}
	for i, it := range pf.p.items {
		out.Classes = append(out.Classes, CertificateClass{
			Requests: m.certificateRequests(m.classes[it.class]), Count: it.count, Value: float64(pf.v.item[i]) / nanoPerUSD,
		})
	}
	written := map[string]bool{}
	write := func(o *option, proof int) {
		t := m.pools[o.pool].table
		name := t.catalog.types[t.catalog.variants[t.rows[o.row].variant].typ].Name
		if written[name] {
			return
		}
		written[name] = true
		ct := CertificateType{Name: name, Price: float64(o.price) / nanoPerUSD, Multipliers: map[corev1.ResourceName]float64{}}
		for d, resource := range m.resources.names {
			l := pf.v.lambda[proof*pf.p.dims+d] / nanoPerUSD
			if resource == corev1.ResourceCPU {
				l *= 1000 // per core, not per millicore
			}
			if l > 0 {
				ct.Multipliers[resource] = l
			}
		}
		out.Types = append(out.Types, ct)
	}
	for i := range pf.p.options {
		write(&pf.p.options[i], i)
	}
	for i := range pf.p.dominated {
		write(&pf.p.dominated[i].option, pf.p.dominated[i].by)
	}
	slices.SortFunc(out.Types, func(a, b CertificateType) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
