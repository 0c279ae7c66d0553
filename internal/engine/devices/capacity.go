package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// capacity is one capacity of a device, and the rules by which claims can take a part of it. Amounts are in thousandths.
type capacity struct {
	name   resourcev1.QualifiedName
	value  int64
	policy *policy
	format resource.Quantity
}

// policy says which amounts of a capacity can be allocated.
type policy struct {
	byDefault         *int64
	values            []int64
	ranged            bool
	least, most, step *int64
}

func capacitiesOf(d *resourcev1.Device) []capacity {
	var out []capacity
	for _, name := range sortedKeys(d.Capacity) {
		c := d.Capacity[name]
		out = append(out, capacity{name: name, value: down(c.Value), policy: policyOf(c.RequestPolicy), format: c.Value})
	}
	return out
}

func policyOf(p *resourcev1.CapacityRequestPolicy) *policy {
	if p == nil {
		return nil
	}
	amount := func(q *resource.Quantity) *int64 {
		if q == nil {
			return nil
		}
		n := up(*q)
		return &n
	}
	out := &policy{byDefault: amount(p.Default)}
	for _, v := range p.ValidValues {
		out.values = append(out.values, up(v))
	}
	if r := p.ValidRange; r != nil {
		out.ranged, out.least, out.most, out.step = true, amount(r.Min), amount(r.Max), amount(r.Step)
	}
	return out
}

// consumed returns the amount of the capacity that a request takes. wanted is nil if the request asks for no amount. consumed returns false
// if no suitable amount can be allocated.
func (c *capacity) consumed(wanted *int64) (int64, bool) {
	p := c.policy
	if wanted == nil {
		if p != nil && p.byDefault != nil {
			return *p.byDefault, true
		}
		return c.value, p.allows(c.value)
	}
	n := p.roundedUp(*wanted)
	return n, p.allows(n)
}

func (p *policy) roundedUp(n int64) int64 {
	switch {
	case p == nil:
	case p.ranged && p.least != nil:
		if n < *p.least {
			return *p.least
		}
		if p.step != nil && *p.step > 0 {
			if over := (n - *p.least) % *p.step; over != 0 {
				n += *p.step - over
			}
		}
	default:
		for _, v := range p.values {
			if n <= v {
				return v
			}
		}
	}
	return n
}

// allows reports whether the policy allows the amount n.
func (p *policy) allows(n int64) bool {
	switch {
	case p == nil, p.byDefault != nil && n == *p.byDefault:
		return true
	case p.ranged:
		if p.most != nil && n > *p.most {
			return false
		}
		var least int64
		if p.least != nil {
			least = *p.least
		}
		return p.step == nil || *p.step <= 0 || (n-least)%*p.step == 0
	case len(p.values) > 0:
		for _, v := range p.values {
			if n == v {
				return true
			}
		}
		return false
	}
	return true
}

// consumption returns the amounts that a request alternative takes of a device's capacities, in the order of the capacities. It returns
// false if the device has too little capacity for the alternative even when it is unused.
func (d *device) consumption(wanted map[resourcev1.QualifiedName]int64) ([]int64, bool) {
	found := 0
	out := make([]int64, len(d.capacity))
	for i := range d.capacity {
		c := &d.capacity[i]
		var ask *int64
		if n, ok := wanted[c.name]; ok {
			found++
			ask = &n
		}
		n, ok := c.consumed(ask)
		if !ok || n > c.value {
			return nil, false
		}
		out[i] = n
	}
	return out, found == len(wanted)
}
