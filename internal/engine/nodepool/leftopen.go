package nodepool

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// A value decided before packing shuts out the instance types that don't state it, and a pool with minValues may need them: where
// one type states "gen In [6, 7]" and another states no gen, pods that ask for "gen NotIn [7]" can run on either. So an assignment
// may leave such a label open. The claim repeats what the pods ask for, and the provider chooses among the values
// that this leaves the type.

// LeftOpenFor are the given assignments with the labels left open that they decide for one of the profiles or although it does not
// ask about them, as far as that is possible: each such label has what the profile asks for. Labels that topology rules tell apart
// stay decided.
func (p *Pool) LeftOpenFor(profiles []int32, d Domains, decided []Assignment) []Assignment {
	var sets []requirements.Set
	for _, n := range profiles {
		f := &p.Profiles[n]
		open := p.leftOpen(f, d)
		for i := range decided {
			set := p.withoutUnasked(f, d, decided[i].Labels).Without(open.Keys()...).Merge(open)
			as := Assignment{Labels: set}
			if len(sets) < MaxAssignments && !set.Equal(decided[i].Labels) && as.Allows(f) && !slices.ContainsFunc(sets, set.Equal) {
				sets = append(sets, set)
			}
		}
	}
	return p.WithRows(sets)
}

// withoutUnasked are the labels without those that may stay open and the profile does not ask about: another does, and decided
// for that one they would shut out types that would do for this one.
func (p *Pool) withoutUnasked(f *Profile, d Domains, labels requirements.Set) requirements.Set {
	var unasked []string
	for _, key := range labels.Keys() {
		asked := slices.ContainsFunc(f.Open, func(r requirements.Requirement) bool { return r.Key() == key })
		if !asked && !slices.Contains(d.Keys, key) && p.MayStayOpen(p.Template.Get(key)) {
			unasked = append(unasked, key)
		}
	}
	return labels.Without(unasked...)
}

// leftOpen is what the profile asks for of the labels that may stay open.
func (p *Pool) leftOpen(f *Profile, d Domains) requirements.Set {
	var out requirements.Set
	for _, r := range f.Open {
		if slices.Contains(d.Keys, r.Key()) || out.Has(r.Key()) {
			continue
		}
		wanted := p.Template.Get(r.Key())
		for _, o := range f.Open {
			if o.Key() == r.Key() {
				wanted = wanted.Intersect(o)
			}
		}
		if p.MayStayOpen(wanted) {
			out = out.With(wanted)
		}
	}
	return out
}

// MayStayOpen reports whether a claim of the pool may leave a label as open as the requirement does: the pool asks for variety,
// the pool's instance types say which values are possible, and several are left.
func (p *Pool) MayStayOpen(r requirements.Requirement) bool {
	_, byTypes := p.Table.Catalog.TypeKeys[r.Key()]
	return len(p.Variety) > 0 && byTypes && p.LeftOpen(r.Key()) && !match.SingleValued(r)
}
