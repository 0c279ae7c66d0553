package devices

import (
	resourcev1 "k8s.io/api/resource/v1"
)

// Matcher evaluates CEL expressions. It must always return the same result for the same input, and be safe for concurrent use.
type Matcher interface {
	// Matches reports whether the expression is true for the device, which belongs to the driver. The error says why the expression has no
	// value. Matches must not change the device.
	Matches(expression, driver string, device *resourcev1.Device) (bool, error)
}

// matching has, for one alternative of a request, the verdicts on all devices of an inventory. It does not depend on allocations.
type matching struct {
	// verdicts has the verdict on each device, by the device's index in the inventory.
	verdicts []verdict
	// amounts has, for each device, the amounts that the alternative takes of the device's capacities. An element is nil if the alternative
	// takes no capacity of the device.
	amounts [][]int64
}

// verdict says whether a device meets an alternative of a request, and which condition it does not meet.
type verdict struct {
	// err says why a selector could not be evaluated.
	err error
	// selector is the position, from 1, of the first selector that is false for the device. It is 0 if all selectors are true.
	selector int
	// small means that the device has too little of a requested capacity, or lacks that capacity.
	small bool
	// tainted means that the device has a taint that the alternative does not tolerate.
	tainted bool
}

// matches reports whether the device meets the alternative's selectors and has the requested capacity.
func (v *verdict) matches() bool { return v.err == nil && v.selector == 0 && !v.small }

// Matches caches the verdicts on the devices of inventories, for the alternatives of claims. It is not safe for concurrent use.
type Matches struct {
	answers *answers
	known   map[matchKey]*matching
}

type matchKey struct {
	inventory   *Inventory
	alternative *alternative
}

// NewMatches returns a cache for the results of the matcher. With a nil matcher, the evaluation of every selector fails.
func NewMatches(m Matcher) *Matches {
	return &Matches{answers: newAnswers(m), known: map[matchKey]*matching{}}
}

// noMatcherError is a separate type so that it can be distinguished from errors of a Matcher.
type noMatcherError struct{}

func (noMatcherError) Error() string { return "nothing that evaluates selectors was given" }

func (m *Matches) of(inv *Inventory, a *alternative) *matching {
	key := matchKey{inv, a}
	if found := m.known[key]; found != nil {
		return found
	}
	out := &matching{verdicts: make([]verdict, len(inv.devices)), amounts: make([][]int64, len(inv.devices))}
	byShape := make([]*verdict, inv.shapes)
	for at := range inv.devices {
		d := &inv.devices[at]
		if byShape[d.shape] == nil {
			v := m.judge(a, d)
			byShape[d.shape] = &v
		}
		v := *byShape[d.shape]
		if v.err == nil && v.selector == 0 {
			amounts, ok := d.consumption(a.capacity)
			out.amounts[at], v.small = amounts, !ok
		}
		v.tainted = !a.tolerates(d)
		out.verdicts[at] = v
	}
	m.known[key] = out
	return out
}

// judge evaluates the alternative's selectors for the device.
func (m *Matches) judge(a *alternative, d *device) verdict {
	for i, expression := range a.selectors {
		if m.answers.matcher == nil {
			return verdict{err: noMatcherError{}, selector: i + 1}
		}
		ok, err := m.answers.ask(expression, d)
		if err != nil || !ok {
			return verdict{err: err, selector: i + 1}
		}
	}
	return verdict{}
}
