package cloudprovider

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// CatalogError is one breach of a CP-CATALOG clause by an instance type.
type CatalogError struct {
	// Clause is the clause that is broken, for instance "CP-CATALOG-05".
	Clause string
	// InstanceType is the name of the type; empty if the type has none.
	InstanceType string
	// Offering is the key of the faulty offering; zero if the type itself is faulty.
	Offering OfferingKey
	// Fault says what is wrong and how to correct it.
	Fault string
}

func (e *CatalogError) Error() string {
	what := fmt.Sprintf("instance type %q", e.InstanceType)
	if e.Offering != (OfferingKey{}) {
		what += fmt.Sprintf(", offering %s", e.Offering)
	}
	return fmt.Sprintf("%s: %s (%s)", what, e.Fault, e.Clause)
}

// ValidateCatalog checks a list of instance types against the clauses that can be checked with one list (CP-CATALOG-02 to CP-CATALOG-08,
// and CP-CATALOG-16). The error joins one *CatalogError for each fault, in the order of the types. It returns nil if there are no faults.
// It is meant for providers' tests and for catalogues that are read from files. Don't call it each time you read a catalogue from a
// provider.
func ValidateCatalog(types []*InstanceType, capabilities Capabilities) error {
	var faults []error
	seen := make(map[string]struct{}, len(types))
	for _, t := range types {
		if t == nil {
			faults = append(faults, &CatalogError{Clause: "CP-CATALOG-02", Fault: "is nil"})
			continue
		}
		check := catalogCheck{Capabilities: capabilities, t: t}
		if _, twice := seen[t.Name]; twice {
			check.fault("CP-CATALOG-02", "occurs twice; names are unique")
		}
		seen[t.Name] = struct{}{}
		check.name()
		check.labels()
		check.offerings()
		check.resources()
		check.devices()
		faults = append(faults, check.faults...)
	}
	return errors.Join(faults...)
}

// catalogCheck collects the faults of one type.
type catalogCheck struct {
	Capabilities
	t      *InstanceType
	faults []error
}

func (c *catalogCheck) fault(clause, format string, args ...any) {
	c.offeringFault(OfferingKey{}, clause, format, args...)
}

func (c *catalogCheck) offeringFault(key OfferingKey, clause, format string, args ...any) {
	c.faults = append(c.faults, &CatalogError{
		Clause: clause, InstanceType: c.t.Name, Offering: key, Fault: fmt.Sprintf(format, args...),
	})
}

func (c *catalogCheck) name() {
	if problems := validation.IsValidLabelValue(c.t.Name); c.t.Name == "" || len(problems) > 0 {
		c.fault("CP-CATALOG-02", "the name must be a legal, non-empty label value %s", strings.Join(problems, "; "))
	}
	if named := single(c.t.Requirements, corev1.LabelInstanceTypeStable); named != c.t.Name {
		c.fault("CP-CATALOG-02", "requirement %s must be In with the name, not %q", corev1.LabelInstanceTypeStable, named)
	}
}

// labels checks the type's own labels. The NodePool label is well-known, but is never a label of an instance type. Zone and capacity type
// are checked with the offerings.
func (c *catalogCheck) labels() {
	core := coreLabels()
	for _, key := range c.Vocabulary.WellKnown {
		byType, by := c.t.Requirements.Has(key), c.offeringsStating(key)
		switch {
		case key == v1.NodePoolLabelKey || key == corev1.LabelTopologyZone || key == v1.CapacityTypeLabelKey:
		case !byType && by == 0:
			c.fault("CP-CATALOG-03", "label %q is not stated; state In with its values or DoesNotExist", key)
		case !slices.Contains(core, key):
		case by < len(c.t.Offerings) && len(c.t.Requirements.Get(key).Values()) == 0:
			c.fault("CP-CATALOG-03", "label %q must have a value", key)
		}
	}
	for r := range c.t.Requirements.All {
		if fault := c.statement(r); fault != "" {
			c.fault("CP-CATALOG-04", "%s", fault)
		}
	}
}

func (c *catalogCheck) offeringsStating(key string) int {
	n := 0
	for i := range c.t.Offerings {
		if c.t.Offerings[i].Requirements.Has(key) {
			n++
		}
	}
	return n
}

// statement returns the fault of one label, or "" if it is valid.
func (c *catalogCheck) statement(r requirements.Requirement) string {
	if canonical := c.Vocabulary.Canonical(r.Key()); canonical != r.Key() {
		return fmt.Sprintf("label %q is an alias; state %q", r.Key(), canonical)
	}
	if r.Complement() {
		return fmt.Sprintf("label %q must be In or DoesNotExist, not %s", r.Key(), r.Operator())
	}
	known := c.LabelValues[r.Key()]
	for _, value := range r.Values() {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			return fmt.Sprintf("label %q: value %q is not legal: %s", r.Key(), value, strings.Join(problems, "; "))
		}
		if len(known) > 0 && !slices.Contains(known, value) {
			return fmt.Sprintf("label %q: value %q is not one of those declared, %q", r.Key(), value, known)
		}
	}
	return ""
}

func (c *catalogCheck) offerings() {
	if len(c.t.Offerings) == 0 {
		c.fault("CP-CATALOG-06", "has no offering; leave out a type that can't be bought at all")
	}
	seen := make(map[OfferingKey]struct{}, len(c.t.Offerings))
	for i := range c.t.Offerings {
		o := &c.t.Offerings[i]
		key := KeyOf(c.t, o)
		if _, twice := seen[key]; twice {
			c.offeringFault(key, "CP-CATALOG-05", "occurs twice; offerings are unique")
		}
		seen[key] = struct{}{}
		c.offeringLabels(key, o)
		c.price(key, o)
	}
}

func (c *catalogCheck) offeringLabels(key OfferingKey, o *Offering) {
	if key.Zone == "" {
		c.offeringFault(key, "CP-CATALOG-06", "%s must have one value", corev1.LabelTopologyZone)
	}
	if CapacityTypeRank(key.CapacityType) > CapacityTypeRank(v1.CapacityTypeOnDemand) {
		c.offeringFault(key, "CP-CATALOG-06", "%s must be one of reserved, spot, on-demand", v1.CapacityTypeLabelKey)
	}
	for r := range o.Requirements.All {
		if fault := c.statement(r); fault != "" {
			c.offeringFault(key, "CP-CATALOG-04", "%s", fault)
		}
		if len(r.Values()) > 1 {
			c.offeringFault(key, "CP-CATALOG-06", "label %q must have one value or none, not %d", r.Key(), len(r.Values()))
		}
		if !o.Reserved() && len(r.Values()) > 0 && slices.Contains(c.ReservationLabels, r.Key()) {
			c.offeringFault(key, "CP-CATALOG-06", "label %q is for reserved offerings alone", r.Key())
		}
	}
	if o.Reserved() && (c.ReservationIDLabel == "" || o.Value(c.ReservationIDLabel) == "") {
		c.offeringFault(key, "CP-CATALOG-06", "a reserved offering names its reservation in label %q", c.ReservationIDLabel)
	}
	if o.ReservationCapacity < 0 {
		c.offeringFault(key, "CP-CATALOG-06", "the reservation's room is %d; it can't be negative", o.ReservationCapacity)
	}
	c.reservationEnds(key, o)
}

// reservationEnds checks the end of the offering's reservation.
func (c *catalogCheck) reservationEnds(key OfferingKey, o *Offering) {
	if !o.Reserved() {
		if !o.ReservationEnds.IsZero() {
			c.offeringFault(key, "CP-CATALOG-06", "it is not reserved, so it can't say when its reservation ends")
		}
		return
	}
	id := o.Value(c.ReservationIDLabel)
	for i := range c.t.Offerings {
		other := &c.t.Offerings[i]
		if other.Reserved() && other.Value(c.ReservationIDLabel) == id && !other.ReservationEnds.Equal(o.ReservationEnds) {
			c.offeringFault(key, "CP-CATALOG-06", "reservation %q ends at different times: all of its offerings have one", id)
			return
		}
	}
}

func (c *catalogCheck) price(key OfferingKey, o *Offering) {
	if r := o.InterruptionRate; !r.valid() {
		c.offeringFault(key, "CP-CATALOG-07", "the interruption rate is from %v to %v; both are shares from 0 to 1, the lower one first", r.Low, r.High)
	}
	switch {
	case math.IsNaN(o.Price) || math.IsInf(o.Price, 0):
		c.offeringFault(key, "CP-CATALOG-07", "the price must be finite")
	case o.Price < 0 || o.Price == 0 && !o.Reserved():
		c.offeringFault(key, "CP-CATALOG-07", "the price is %v; it must be positive, or zero for a reservation already paid for", o.Price)
	}
}

func (c *catalogCheck) resources() {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		if quantity, ok := c.t.Capacity[name]; !ok || quantity.Sign() <= 0 {
			c.fault("CP-CATALOG-08", "capacity of %s must be positive", name)
		}
	}
	c.quantities(OfferingKey{}, c.t.Capacity, c.t.Overhead)
	for i := range c.t.Offerings {
		if o := &c.t.Offerings[i]; o.OverridesResources() {
			c.quantities(KeyOf(c.t, o), c.t.CapacityOf(o), c.t.OverheadOf(o))
		}
	}
}

// quantities checks that no amount is negative and that some cpu and memory are left for pods. Allocatable returns no amount below zero, so
// its result would hide an overhead that is larger than the capacity.
func (c *catalogCheck) quantities(key OfferingKey, capacity corev1.ResourceList, overhead Overhead) {
	for _, part := range []struct {
		name string
		list corev1.ResourceList
	}{
		{"capacity", capacity},
		{"overhead.kubeReserved", overhead.KubeReserved},
		{"overhead.systemReserved", overhead.SystemReserved},
		{"overhead.evictionThreshold", overhead.EvictionThreshold},
	} {
		for _, name := range sortedNames(part.list) {
			if quantity := part.list[name]; quantity.Sign() < 0 {
				c.offeringFault(key, "CP-CATALOG-08", "%s of %s is %s; it can't be negative", part.name, name, quantity.String())
			}
		}
	}
	left := allocatable(capacity, overhead)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if quantity := left[name]; quantity.Sign() <= 0 {
			c.offeringFault(key, "CP-CATALOG-08", "overhead leaves no %s for pods", name)
		}
	}
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// joined joins a list of faults into one error, so that errors.As finds each fault.
func joined(faults field.ErrorList) error {
	each := make([]error, len(faults))
	for i, fault := range faults {
		each[i] = fault
	}
	return errors.Join(each...)
}
