package model

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// SameDevices reports whether both snapshots have the same data about devices.
func SameDevices(a, b *planning.Snapshot) bool {
	return slices.Equal(a.ResourceClaims, b.ResourceClaims) && slices.Equal(a.ResourceClaimTemplates, b.ResourceClaimTemplates) &&
		slices.Equal(a.DeviceClasses, b.DeviceClasses) && slices.Equal(a.ResourceSlices, b.ResourceSlices)
}

// devices refuses device pools of instance types that no driver could publish.
func (c *quantityCheck) devices(pools []cloudprovider.DevicePool, at func(field string) string) {
	for i := range pools {
		for _, fault := range cloudprovider.ValidateDevicePool(&pools[i], field.NewPath("devices").Index(i)) {
			if c.err == nil {
				c.err = &planning.SnapshotError{Path: at("." + fault.Field), Rule: "is not what a driver can publish, " + fault.ErrorBody(), Cure: "give what the API server takes in a ResourceSlice"}
			}
		}
		for j := range pools[i].Devices {
			d := &pools[i].Devices[j]
			c.device(d, func() string { return fmt.Sprintf("%s.devices[%s]", at(fmt.Sprintf(".devices[%d]", i)), d.Name) })
		}
		c.counters(pools[i].SharedCounters, func() string { return at(fmt.Sprintf(".devices[%d].sharedCounters", i)) })
	}
}

// checkDevices refuses objects of Dynamic Resource Allocation that contradict each other, and invalid amounts.
func checkDevices(s *planning.Snapshot, previous *Model) error {
	if len(s.ResourceClaims)+len(s.ResourceClaimTemplates)+len(s.DeviceClasses)+len(s.ResourceSlices) == 0 ||
		previous != nil && SameDevices(previous.Snapshot, s) {
		return nil
	}
	if err := checkDeviceNames(s); err != nil {
		return err
	}
	var c quantityCheck
	for _, slice := range s.ResourceSlices {
		path := "resourceSlices[" + slice.Name + "].spec"
		if slice.Spec.Driver == "" || slice.Spec.Pool.Name == "" {
			return &planning.SnapshotError{Path: path, Rule: "has no driver or no pool", Cure: "give the slice as its driver published it"}
		}
		for i := range slice.Spec.Devices {
			d := &slice.Spec.Devices[i]
			c.device(d, func() string { return path + ".devices[" + d.Name + "]" })
		}
		c.counters(slice.Spec.SharedCounters, func() string { return path + ".sharedCounters" })
	}
	for _, claim := range s.ResourceClaims {
		c.claim(&claim.Spec.Devices, "resourceClaims["+claim.Namespace+"/"+claim.Name+"].spec.devices")
	}
	for _, t := range s.ResourceClaimTemplates {
		c.claim(&t.Spec.Spec.Devices, "resourceClaimTemplates["+t.Namespace+"/"+t.Name+"].spec.spec.devices")
	}
	return c.err
}

// checkDeviceNames refuses objects that are listed twice.
func checkDeviceNames(s *planning.Snapshot) error {
	seen := map[string]bool{}
	once := func(list, name string) error {
		if seen[list+name] {
			return &planning.SnapshotError{Path: list, Rule: "has two objects named " + name, Cure: "give each once"}
		}
		seen[list+name] = true
		return nil
	}
	for _, o := range s.ResourceClaims {
		if err := once("resourceClaims", o.Namespace+"/"+o.Name); err != nil {
			return err
		}
	}
	for _, o := range s.ResourceClaimTemplates {
		if err := once("resourceClaimTemplates", o.Namespace+"/"+o.Name); err != nil {
			return err
		}
	}
	for _, o := range s.DeviceClasses {
		if err := once("deviceClasses", o.Name); err != nil {
			return err
		}
	}
	for _, o := range s.ResourceSlices {
		if err := once("resourceSlices", o.Name); err != nil {
			return err
		}
	}
	return nil
}

// device refuses invalid amounts of a device.
func (c *quantityCheck) device(d *resourcev1.Device, path func() string) {
	for name, capacity := range d.Capacity {
		c.amount(capacity.Value, func() string { return path() + ".capacity[" + string(name) + "]" })
	}
	for i := range d.ConsumesCounters {
		for name, counter := range d.ConsumesCounters[i].Counters {
			c.amount(counter.Value, func() string { return fmt.Sprintf("%s.consumesCounters[%d].counters[%s]", path(), i, name) })
		}
	}
}

func (c *quantityCheck) counters(sets []resourcev1.CounterSet, path func() string) {
	for i := range sets {
		for name, counter := range sets[i].Counters {
			c.amount(counter.Value, func() string { return fmt.Sprintf("%s[%s].counters[%s]", path(), sets[i].Name, name) })
		}
	}
}

// claim checks the requests of a claim.
func (c *quantityCheck) claim(spec *resourcev1.DeviceClaim, path string) {
	capacity := func(asked *resourcev1.CapacityRequirements, at string) {
		if asked == nil {
			return
		}
		for name, q := range asked.Requests {
			c.amount(q, func() string { return path + ".requests[" + at + "].capacity.requests[" + string(name) + "]" })
		}
	}
	names := map[string]bool{}
	for i := range spec.Requests {
		r := &spec.Requests[i]
		if names[r.Name] && c.err == nil {
			c.err = &planning.SnapshotError{Path: path + ".requests", Rule: "has two requests named " + r.Name, Cure: "name each request for itself"}
		}
		names[r.Name] = true
		if r.Exactly != nil {
			capacity(r.Exactly.Capacity, r.Name)
		}
		for j := range r.FirstAvailable {
			capacity(r.FirstAvailable[j].Capacity, r.Name+"/"+r.FirstAvailable[j].Name)
		}
	}
}

// amount refuses an invalid amount. If there are several faults, it reports the one whose path sorts first.
func (c *quantityCheck) amount(q resource.Quantity, path func() string) {
	if !resources.Absurd(&q) && q.Sign() >= 0 {
		return
	}
	at := path()
	if found, ok := c.err.(*planning.SnapshotError); ok && found.Path <= at {
		return
	}
	c.err = &planning.SnapshotError{Path: at, Rule: "is " + resources.Short(q) + ", which can't be planned with", Cure: "give an amount from 0 up to what a device can have"}
}
