package cloudprovider

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// MachineRequirements returns all labels of an instance of this type bought by this offering: the type's labels, overridden by the
// offering's. Keys that occur only in other offerings of the type are absent.
func (t *InstanceType) MachineRequirements(o *Offering) requirements.Set {
	stated := t.offeringKeys()
	if o == nil {
		o = &Offering{}
	}
	var absent []requirements.Requirement
	for _, key := range stated {
		if !o.Requirements.Has(key) {
			absent = append(absent, requirements.DoesNotExist(key))
		}
	}
	return t.Requirements.Without(stated...).Merge(o.Requirements).With(absent...)
}

// Offers reports whether an instance of this type bought by this offering meets the requirements: for every key that occurs in both, they
// must overlap with MachineRequirements. Availability and resources are not checked.
func (t *InstanceType) Offers(o *Offering, want requirements.Set) bool {
	if o == nil {
		return false
	}
	m := newMatcher(t, want)
	return m.meets(o)
}

// offeringKeys returns the label keys that at least one offering of the type states, sorted.
func (t *InstanceType) offeringKeys() []string {
	keys := make([]string, 0, 8)
	for i := range t.Offerings {
		for r := range t.Offerings[i].Requirements.All {
			if at, found := slices.BinarySearch(keys, r.Key()); !found {
				keys = slices.Insert(keys, at, r.Key())
			}
		}
	}
	return keys
}

// matcher compares one type with one set of requirements, for each offering. It gives the same result as
// MachineRequirements(o).Intersects(want), but does not build that set for each offering of a thousand types.
type matcher struct {
	want requirements.Set
	// typeMeets reports whether the type's own labels meet the requirements. It ignores labels of offerings.
	typeMeets bool
	// valued are the keys of offerings for which the requirements demand a label with a value.
	valued []string
}

func newMatcher(t *InstanceType, want requirements.Set) matcher {
	m := matcher{want: want}
	// Most claims list the names of instance types, so this check excludes most types.
	if want.Has(corev1.LabelInstanceTypeStable) && !want.Get(corev1.LabelInstanceTypeStable).Has(t.Name) {
		return m
	}
	keys := t.offeringKeys()
	if m.typeMeets = t.Requirements.Without(keys...).Intersects(want) == nil; !m.typeMeets {
		return m
	}
	for _, key := range keys {
		if r := want.Get(key); want.Has(key) && r.Operator() != requirements.OpNotIn && r.Operator() != requirements.OpDoesNotExist {
			m.valued = append(m.valued, key)
		}
	}
	return m
}

func (m matcher) meets(o *Offering) bool {
	if !m.typeMeets {
		return false
	}
	for _, key := range m.valued {
		if !o.Requirements.Has(key) {
			return false
		}
	}
	return o.Requirements.Intersects(m.want) == nil
}
