package overlay

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// corrected is an instance type (base), its changed copy (made), and the changes of overlays to it. It never changes after its creation.
type corrected struct {
	base, made *cloudprovider.InstanceType
	// prices has, for each offering, the rule that sets its price, or nil if no rule does. The whole slice is nil if no rule sets a price.
	prices []*rule
	// capacity are the resources that overlays set, sorted by name.
	capacity []granted
}

// granted is a resource that an overlay sets for a type.
type granted struct {
	rule *rule
	amount
}

func (c *corrected) repriced() bool { return c.prices != nil }

// sameAs reports whether c and o have the same changes to the same type.
func (c *corrected) sameAs(o *corrected) bool {
	return c.base == o.base && slices.EqualFunc(c.prices, o.prices, samePrice) &&
		slices.EqualFunc(c.capacity, o.capacity, func(a, b granted) bool {
			return a.rule.name == b.rule.name && a.name == b.name && a.text == b.text
		})
}

func (c *corrected) overlaid() Overlaid {
	o := Overlaid{Base: c.base}
	for _, r := range c.prices {
		if r != nil {
			o.Price = append(o.Price, r.name)
		}
	}
	for _, g := range c.capacity {
		o.Capacity = append(o.Capacity, g.rule.name)
	}
	slices.Sort(o.Price)
	slices.Sort(o.Capacity)
	o.Price, o.Capacity = slices.Compact(o.Price), slices.Compact(o.Capacity)
	return o
}

// workshop makes the changed copies for one result. It makes each different copy only once.
type workshop struct {
	result, previous *Result
	sources          map[source]string
}

// source is the key for the text of a price's source. Only a few different texts occur, so each text is made only once.
type source struct {
	overlay, over string
}

// correct returns the types of the view with all changes applied. Without changes it returns the list's own slice.
func (w *workshop) correct(v *view, rules []*rule) []*cloudprovider.InstanceType {
	if v.prices == nil && v.capacity == nil {
		return v.list.types
	}
	types := slices.Clone(v.list.types)
	for i := range types {
		if c := v.corrections(i, rules); c != nil {
			types[i] = w.copyOf(c).made
		}
	}
	return types
}

// corrections returns the changes to a type of the view, or nil if the type is not changed.
func (v *view) corrections(number int, rules []*rule) *corrected {
	var c corrected
	if v.prices != nil {
		places := v.prices[v.list.first[number]:v.list.first[number+1]]
		for i, s := range places {
			if s.first == 0 {
				continue
			}
			if c.prices == nil {
				c.prices = make([]*rule, len(places))
			}
			c.prices[i] = rules[s.first-1]
		}
	}
	if v.capacity != nil {
		for _, s := range v.capacity[number] {
			winner := rules[s.first-1]
			at := slices.IndexFunc(winner.capacity, func(a amount) bool { return a.name == s.name })
			c.capacity = append(c.capacity, granted{rule: winner, amount: winner.capacity[at]})
		}
		slices.SortFunc(c.capacity, func(a, b granted) int { return strings.Compare(string(a.name), string(b.name)) })
	}
	if c.prices == nil && c.capacity == nil {
		return nil
	}
	c.base = v.list.types[number]
	return &c
}

// copyOf returns a copy of the type with these changes: an existing copy of this result or of the previous one, or a new copy.
func (w *workshop) copyOf(c *corrected) *corrected {
	if found := w.result.find(c); found != nil {
		return found
	}
	if found := w.previous.find(c); found != nil {
		c = found
	} else {
		c.made = w.make(c)
	}
	w.result.copies[c.base] = append(w.result.copies[c.base], c)
	w.result.known[c.made] = c
	return c
}

func (r *Result) find(c *corrected) *corrected {
	if r == nil {
		return nil
	}
	for _, known := range r.copies[c.base] {
		if known.sameAs(c) {
			return known
		}
	}
	return nil
}

// make copies a type and changes the copy. The copy and the original share unchanged parts, because both are never changed later.
func (w *workshop) make(c *corrected) *cloudprovider.InstanceType {
	t := *c.base
	t.Offerings = slices.Clone(c.base.Offerings)
	for i, r := range c.prices {
		if r != nil {
			o := &t.Offerings[i]
			o.Price = r.reprice(o.Price)
			o.PriceSource, o.PriceBasis = w.source(r.name, o.PriceSource), r.rebase(o.PriceBasis)
		}
	}
	if len(c.capacity) == 0 {
		return &t
	}
	t.Capacity = maps.Clone(t.Capacity)
	if t.Capacity == nil {
		t.Capacity = make(corev1.ResourceList, len(c.capacity))
	}
	for _, g := range c.capacity {
		maps.Copy(t.Capacity, g.quantity.DeepCopy())
	}
	for i := range t.Offerings {
		outrank(&t.Offerings[i], c.capacity)
	}
	return &t
}

// outrank sets the overlay's capacity in the offering's own Capacity as well, because an overlay's capacity applies to all offerings of the
// type.
func outrank(o *cloudprovider.Offering, capacity []granted) {
	shared := true
	for _, g := range capacity {
		if _, overridden := o.Capacity[g.name]; !overridden {
			continue
		}
		if shared {
			o.Capacity, shared = maps.Clone(o.Capacity), false
		}
		maps.Copy(o.Capacity, g.quantity.DeepCopy())
	}
}

// source returns the text for the source of a price that an overlay has set.
func (w *workshop) source(overlay, over string) string {
	key := source{overlay, over}
	if text, ok := w.sources[key]; ok {
		return text
	}
	text := "overlay " + overlay
	if over != "" {
		text += " over " + over
	}
	if w.sources == nil {
		w.sources = make(map[source]string)
	}
	w.sources[key] = text
	return text
}
