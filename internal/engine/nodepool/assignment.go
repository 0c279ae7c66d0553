package nodepool

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Some labels are decided neither by the instance type nor by the offering: a pool that says "team In [a, b]" makes
// nodes of either team. Before packing, each way to decide them that some pod cares about becomes an assignment, and
// options are offered once per assignment, so that pods that want different values never share a node.

// Assignment gives each open key of a pool one value, or says which it may have: see LeftOpenFor. A pool without open keys has
// one empty assignment.
type Assignment struct {
	Labels requirements.Set
	// Rows of the pool's table whose type may carry the labels; nil for all.
	Rows bitset.Set
}

// Domains are labels whose values topology rules tell apart.
type Domains struct {
	Keys []string
	// OnNodes are the values of such a label on nodes that are there, sorted.
	OnNodes func(key string) []string
}

// MaxAssignments bounds how many assignments of one pool are looked at side by side.
const MaxAssignments = 256

// Assignments lists those worth telling apart for the given profiles of a pool.
func (p *Pool) Assignments(profiles []int32, d Domains) []Assignment {
	var keys []string
	for _, n := range profiles {
		for _, r := range p.Profiles[n].Open {
			if !slices.Contains(keys, r.Key()) {
				keys = append(keys, r.Key())
			}
		}
	}
	for _, key := range d.Keys {
		if p.LeftOpen(key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return []Assignment{{}}
	}
	slices.Sort(keys)
	sets := []requirements.Set{{}}
	for _, key := range keys {
		candidates := p.Candidates(key, profiles, d)
		if len(sets)*len(candidates) > MaxAssignments {
			return p.WithRows(p.ownAssignments(keys, profiles))
		}
		var next []requirements.Set
		for _, s := range sets {
			for _, r := range candidates {
				next = append(next, s.With(r))
			}
		}
		sets = next
	}
	return p.WithRows(sets)
}

// Candidates are the decisions for one open key that some profile tells apart: each value it lists, and one that none
// lists.
func (p *Pool) Candidates(key string, profiles []int32, d Domains) []requirements.Requirement {
	template := p.Template.Get(key)
	var values []string
	without := !p.Template.Has(key)
	note := func(list []string) {
		for _, v := range list {
			if template.Has(v) && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	if !template.Complement() {
		note(template.Values())
	}
	note(p.statedValues(key))
	if slices.Contains(d.Keys, key) {
		note(d.OnNodes(key))
	}
	for _, n := range profiles {
		all, asked := template, 0
		for _, r := range p.Profiles[n].Open {
			if r.Key() != key {
				continue
			}
			all, asked = all.Intersect(r), asked+1
			without = without || r.Operator() == requirements.OpDoesNotExist
			if !r.Complement() {
				note(r.Values())
			} else if v, ok := template.Intersect(r).AnyValue(); ok {
				note([]string{v})
			}
		}
		if v, ok := all.AnyValue(); ok && asked > 1 {
			note([]string{v}) // what none of them suggests by itself
		}
	}
	if v, ok := template.Intersect(requirements.NotIn(key, values...)).AnyValue(); ok {
		note([]string{v})
	}
	slices.Sort(values)
	out := make([]requirements.Requirement, 0, len(values)+1)
	for _, v := range values {
		out = append(out, requirements.In(key, v))
	}
	if without || len(out) == 0 {
		out = append(out, requirements.DoesNotExist(key))
	}
	return out
}

// statedValues are the values that the pool's instance types state for a key, sorted; nil if they don't state it.
func (p *Pool) statedValues(key string) []string {
	c := p.Table.Catalog
	if _, stated := c.TypeKeys[key]; !stated {
		return nil
	}
	var out []string
	for i := range p.Rows.Members {
		out = append(out, c.Types[c.Variants[p.Table.Rows[i].Variant].Type].Requirements.Get(key).Values()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Decide picks one value that meets r, or absence. A label that types of the catalog state has one of the values that those of
// the pool state, or is absent: a type that does not state it makes nodes without it, whatever the others state.
func (p *Pool) Decide(key string, r requirements.Requirement) requirements.Requirement {
	for _, v := range p.statedValues(key) {
		if r.Has(v) {
			return requirements.In(key, v)
		}
	}
	if _, byTypes := p.Table.Catalog.TypeKeys[key]; !byTypes {
		if v, ok := r.AnyValue(); ok {
			return requirements.In(key, v)
		}
	}
	return requirements.DoesNotExist(key)
}

// ownAssignments are used where there are too many combinations: each profile's own decisions, one value for the rest.
func (p *Pool) ownAssignments(keys []string, profiles []int32) []requirements.Set {
	var out []requirements.Set
	for _, n := range profiles {
		s := requirements.Set{}
		open := requirements.NewSet(p.Profiles[n].Open...)
		for _, key := range keys {
			s = s.With(p.Decide(key, p.Template.Get(key).Intersect(open.Get(key))))
		}
		if !slices.ContainsFunc(out, s.Equal) {
			out = append(out, s)
		}
	}
	return out
}

// WithRows are the assignments that decide these labels, with the rows that may carry them.
func (p *Pool) WithRows(sets []requirements.Set) []Assignment {
	out := make([]Assignment, len(sets))
	for i, s := range sets {
		out[i] = Assignment{Labels: s}
		for r := range s.All {
			if _, stated := p.Table.Catalog.TypeKeys[r.Key()]; !stated {
				continue
			}
			if out[i].Rows == nil {
				out[i].Rows = bitset.Full(len(p.Table.Rows))
			}
			mask := p.Table.Catalog.VariantMask(r)
			for row := range out[i].Rows.Members {
				if !mask.Has(p.Table.Rows[row].Variant) {
					out[i].Rows.Remove(row)
				}
			}
		}
	}
	return out
}

// Decides reports whether the assignment has a value, or none, for each label that the profile asks about, or leaves it only
// values that will do. Of one that is not decided nothing is known: that some pod may take it for absent binds nobody.
func (a *Assignment) Decides(p *Profile) bool {
	return !slices.ContainsFunc(p.Open, func(r requirements.Requirement) bool {
		return !a.Labels.Has(r.Key()) || !match.SingleValued(a.Labels.Get(r.Key())) && !match.Ensures(a.Labels, r)
	})
}

// Allows reports whether the profile's open requirements accept the assignment, whichever values it leaves open.
func (a *Assignment) Allows(p *Profile) bool {
	for _, r := range p.Open {
		if !match.Ensures(a.Labels, r) {
			return false
		}
	}
	return true
}

// Fits reports whether the row's type may carry the labels.
func (a *Assignment) Fits(row int) bool { return a.Rows == nil || a.Rows.Has(row) }
