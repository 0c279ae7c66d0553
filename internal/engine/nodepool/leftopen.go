package nodepool

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Deciding a label's value before packing excludes the instance types that don't state the value, and a pool with minValues may need these.
// For example, if one type states "gen In [6, 7]" and another type does not state gen, pods with "gen NotIn [7]" can run on both. So an
// assignment may leave such a label undecided (open). The NodeClaim repeats the pods' requirements, and the provider chooses one of the
// values that they allow for the type.

// LeftOpenFor returns, for each profile, the assignments in decided with labels left open where possible. A label that the profile asks
// about gets the profile's requirement instead of its value. A label that the profile does not ask about is removed. Labels that topology
// rules distinguish stay decided.
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

// withoutUnasked removes the labels that may stay open and that the profile does not ask about. These labels were decided because of
// another profile, and would exclude types that suit this profile.
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

// leftOpen returns the profile's requirements on labels that may stay open.
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

// MayStayOpen reports whether a NodeClaim of the pool may have r instead of a single value. This is so if the pool has minValues, its
// instance types state the possible values, and several values remain.
func (p *Pool) MayStayOpen(r requirements.Requirement) bool {
	_, byTypes := p.Table.Catalog.TypeKeys[r.Key()]
	return len(p.Variety) > 0 && byTypes && p.LeftOpen(r.Key()) && !match.SingleValued(r)
}
