package nodepool

import (
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Label returns the value of a label on a new node of the pool. It returns "" if the node lacks the label or its value is open.
func (p *Pool) Label(row, slot int, as *Assignment, key string) string {
	c := p.Table.Catalog
	if c.OfferingKeys[key] {
		return match.OnlyValue(c.Slots[slot].Labels.Get(key))
	}
	known := p.Template.Get(key)
	if as.Labels.Has(key) {
		if known = as.Labels.Get(key); match.SingleValued(known) {
			return match.OnlyValue(known)
		}
	}
	if _, stated := c.TypeKeys[key]; stated {
		known = known.Intersect(c.Types[c.Variants[p.Table.Rows[row].Variant].Type].Requirements.Get(key))
	}
	return match.OnlyValue(known)
}

// OpenLabel returns the possible values of a label whose value is open, but which a node of the pool and row will have. It returns false if
// the value is decided or the label may be absent.
func (p *Pool) OpenLabel(row int, as *Assignment, key string) (known requirements.Requirement, ok bool) {
	if !p.LeftOpen(key) {
		return known, false
	}
	c := p.Table.Catalog
	known = p.Template.Get(key)
	if as.Labels.Has(key) {
		if known = as.Labels.Get(key); match.SingleValued(known) {
			return known, false
		}
	}
	if _, stated := c.TypeKeys[key]; stated {
		own := c.Types[c.Variants[p.Table.Rows[row].Variant].Type].Requirements
		if !own.Has(key) {
			return known, false
		}
		known = known.Intersect(own.Get(key))
	}
	return known, known.Operator() != requirements.OpDoesNotExist
}

// WithOpen returns the decided labels of a node of the pool, together with the possible values of those labels in keys that are left open.
// For example, a node whose label will get the value a or b has the label in either case. So spreads that require only the label's presence
// count this node.
func (p *Pool) WithOpen(labels requirements.Set, row int, as *Assignment, keys map[string]bool) requirements.Set {
	for key := range keys {
		if labels.Has(key) {
			continue
		}
		if known, ok := p.OpenLabel(row, as, key); ok {
			labels = labels.With(known)
		}
	}
	return labels
}

// ClassLabel returns the key under which claims and nodes name their node class.
func ClassLabel(group, kind string) string { return group + "/" + strings.ToLower(kind) }
