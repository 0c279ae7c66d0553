package nodepool

import (
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Some labels are decided neither by the instance type nor by the offering. For example, a pool with "team In [a, b]" can create nodes of
// either team. Before packing, each combination of values that some pods can distinguish becomes an assignment, and options are listed once
// per assignment. So pods that want different values never share a node.

// Assignment has, for each open key of a pool, one value or the values that are still possible: see LeftOpenFor. A pool without open keys
// has one empty assignment.
type Assignment struct {
	Labels requirements.Set
	// Rows has the rows of the pool's table whose type may have these labels; nil means all rows.
	Rows bitset.Set
}

// Domains describes the labels whose values topology rules distinguish.
type Domains struct {
	Keys []string
	// OnNodes returns the values that the label with this key has on existing nodes, sorted.
	OnNodes func(key string) []string
}

// MaxAssignments is the maximum number of assignments of one pool that are considered together.
const MaxAssignments = 256

// Assignments lists the assignments of the pool that the given profiles can distinguish.
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

// Candidates lists the requirements to try for one open key: one for each value that some profile lists, and one for a value that no
// profile lists.
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
			note([]string{v}) // a value that meets all profiles, although no single profile lists it
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

// statedValues returns the values of a key that the pool's instance types state, sorted, or nil if no type states the key.
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

// Decide returns a requirement that allows one value that meets r, or that requires the absence of the label. If types of the catalog state
// the label, the value is one that the pool's types state, or the label is absent. The nodes of a type that does not state the label lack
// it, even if other types state it.
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

// ownAssignments is used if there are too many combinations. For each profile it returns an assignment with one value for each key that the
// pool and this profile allow.
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

// WithRows returns one assignment for each set of labels, with the rows whose types may have these labels.
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

// Decides reports whether the assignment decides each label that the profile asks about. A label is decided if it has one value, is absent,
// or may only have values that the profile accepts. An open label may have any value. A pod that requires the absence of the label does not
// restrict the label for other pods.
func (a *Assignment) Decides(p *Profile) bool {
	for _, r := range p.Open { // no closure, because this is called very often
		if !a.Labels.Has(r.Key()) || !match.SingleValued(a.Labels.Get(r.Key())) && !match.Ensures(a.Labels, r) {
			return false
		}
	}
	return true
}

// Allows reports whether the profile's open requirements accept the assignment for every value that its labels may still get.
func (a *Assignment) Allows(p *Profile) bool {
	for _, r := range p.Open {
		if !match.Ensures(a.Labels, r) {
			return false
		}
	}
	return true
}

// Fits reports whether the row's type may have the labels.
func (a *Assignment) Fits(row int) bool { return a.Rows == nil || a.Rows.Has(row) }
