package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Some labels are decided neither by the instance type nor by the offering: a pool that says "team In [a, b]" makes
// machines of either team. Before packing, each way to decide them that some pod cares about becomes an assignment, and
// options are offered once per assignment, so that pods that want different values never share a machine.

// assignment gives each open key of a pool one value. A pool without open keys has one empty assignment.
type assignment struct {
	labels requirements.Set
	// rows of the pool's table whose type may carry the labels; nil for all.
	rows bitset.Set
}

// domains are labels whose values topology rules tell apart.
type domains struct {
	keys []string
	// onNodes are the values of such a label on nodes that are there, sorted.
	onNodes func(key string) []string
}

// maxAssignments bounds how many assignments of one pool are looked at side by side.
const maxAssignments = 256

// assignments lists those worth telling apart for the given profiles of a pool.
func (p *pool) assignments(profiles []int32, d domains) []assignment {
	var keys []string
	for _, n := range profiles {
		for _, r := range p.profiles[n].open {
			if !slices.Contains(keys, r.Key()) {
				keys = append(keys, r.Key())
			}
		}
	}
	for _, key := range d.keys {
		if p.leftOpen(key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return []assignment{{}}
	}
	slices.Sort(keys)
	sets := []requirements.Set{{}}
	for _, key := range keys {
		candidates := p.candidates(key, profiles, d)
		if len(sets)*len(candidates) > maxAssignments {
			return p.withRows(p.ownAssignments(keys, profiles))
		}
		var next []requirements.Set
		for _, s := range sets {
			for _, r := range candidates {
				next = append(next, s.With(r))
			}
		}
		sets = next
	}
	return p.withRows(sets)
}

// candidates are the decisions for one open key that some profile tells apart: each value it lists, and one that none
// lists.
func (p *pool) candidates(key string, profiles []int32, d domains) []requirements.Requirement {
	template := p.template.Get(key)
	var values []string
	without := !p.template.Has(key)
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
	if slices.Contains(d.keys, key) {
		note(d.onNodes(key))
	}
	for _, n := range profiles {
		all, asked := template, 0
		for _, r := range p.profiles[n].open {
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
func (p *pool) statedValues(key string) []string {
	c := p.table.catalog
	if _, stated := c.TypeKeys[key]; !stated {
		return nil
	}
	var out []string
	for i := range p.rows.Members {
		out = append(out, c.Types[c.Variants[p.table.rows[i].variant].Type].Requirements.Get(key).Values()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// decide picks one value that meets r, or absence. A label that types of the catalog state has one of the values that those of
// the pool state, or is absent: a type that does not state it makes nodes without it, whatever the others state.
func (p *pool) decide(key string, r requirements.Requirement) requirements.Requirement {
	for _, v := range p.statedValues(key) {
		if r.Has(v) {
			return requirements.In(key, v)
		}
	}
	if _, byTypes := p.table.catalog.TypeKeys[key]; !byTypes {
		if v, ok := r.AnyValue(); ok {
			return requirements.In(key, v)
		}
	}
	return requirements.DoesNotExist(key)
}

// ownAssignments are used where there are too many combinations: each profile's own decisions, one value for the rest.
func (p *pool) ownAssignments(keys []string, profiles []int32) []requirements.Set {
	var out []requirements.Set
	for _, n := range profiles {
		s := requirements.Set{}
		open := requirements.NewSet(p.profiles[n].open...)
		for _, key := range keys {
			s = s.With(p.decide(key, p.template.Get(key).Intersect(open.Get(key))))
		}
		if !slices.ContainsFunc(out, s.Equal) {
			out = append(out, s)
		}
	}
	return out
}

func (p *pool) withRows(sets []requirements.Set) []assignment {
	out := make([]assignment, len(sets))
	for i, s := range sets {
		out[i] = assignment{labels: s}
		for r := range s.All {
			if _, stated := p.table.catalog.TypeKeys[r.Key()]; !stated {
				continue
			}
			if out[i].rows == nil {
				out[i].rows = bitset.Full(len(p.table.rows))
			}
			mask := p.table.catalog.VariantMask(r)
			for row := range out[i].rows.Members {
				if !mask.Has(p.table.rows[row].variant) {
					out[i].rows.Remove(row)
				}
			}
		}
	}
	return out
}

// decides reports whether the assignment has a value, or none, for each label that the profile asks about. Of one that is not
// decided nothing is known: that some pod may take it for absent binds nobody.
func (a *assignment) decides(p *profile) bool {
	return !slices.ContainsFunc(p.open, func(r requirements.Requirement) bool { return !a.labels.Has(r.Key()) })
}

// allows reports whether the profile's open requirements accept the assignment.
func (a *assignment) allows(p *profile) bool {
	for _, r := range p.open {
		if !match.Meets(a.labels, r) {
			return false
		}
	}
	return true
}

// fits reports whether the row's type may carry the labels.
func (a *assignment) fits(row int) bool { return a.rows == nil || a.rows.Has(row) }
