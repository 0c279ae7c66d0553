package scheduling

import (
	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// label is the value of a label on a new node of the pool; empty if it has none or it is not decided.
func (p *pool) label(row, slot int, as *assignment, key string) string {
	c := p.table.catalog
	if c.OfferingKeys[key] {
		return match.OnlyValue(c.Slots[slot].Labels.Get(key))
	}
	if as.labels.Has(key) {
		return match.OnlyValue(as.labels.Get(key))
	}
	if _, stated := c.TypeKeys[key]; stated {
		return match.OnlyValue(p.template.Get(key).Intersect(c.Types[c.Variants[p.table.rows[row].variant].Type].Requirements.Get(key)))
	}
	return match.OnlyValue(p.template.Get(key))
}

// openLabel is what is known of a label that will be on machines of the pool and row although its value is not decided; false
// for one that is decided, or that may be absent.
func (p *pool) openLabel(row int, as *assignment, key string) (known requirements.Requirement, ok bool) {
	if as.labels.Has(key) || !p.leftOpen(key) {
		return known, false
	}
	c := p.table.catalog
	known = p.template.Get(key)
	if _, stated := c.TypeKeys[key]; stated {
		own := c.Types[c.Variants[p.table.rows[row].variant].Type].Requirements
		if !own.Has(key) {
			return known, false
		}
		known = known.Intersect(own.Get(key))
	}
	return known, known.Operator() != requirements.OpDoesNotExist
}

// withOpen adds to the labels decided for a node of the pool what is known of those of keys that are left open: one that must be
// a or b will be there, and spreads that ask for no more than that take notice of the machine.
func (p *pool) withOpen(labels requirements.Set, row int, as *assignment, keys map[string]bool) requirements.Set {
	for key := range keys {
		if labels.Has(key) {
			continue
		}
		if known, ok := p.openLabel(row, as, key); ok {
			labels = labels.With(known)
		}
	}
	return labels
}
