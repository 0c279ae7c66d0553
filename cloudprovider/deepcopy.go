package cloudprovider

import (
	"maps"
	"slices"
)

// DeepCopy returns a copy of the instance type that shares no mutable data with t. Requirements are immutable and stay shared. Nil
// gives nil.
func (t *InstanceType) DeepCopy() *InstanceType {
	if t == nil {
		return nil
	}
	c := *t
	c.Capacity = t.Capacity.DeepCopy()
	c.Overhead = t.Overhead.DeepCopy()
	c.VolumeLimits = maps.Clone(t.VolumeLimits)
	c.NotKnown = slices.Clone(t.NotKnown)
	c.Devices = slices.Clone(t.Devices)
	for i := range c.Devices {
		c.Devices[i] = t.Devices[i].DeepCopy()
	}
	c.Offerings = slices.Clone(t.Offerings)
	for i := range c.Offerings {
		c.Offerings[i] = t.Offerings[i].DeepCopy()
	}
	return &c
}

// DeepCopy returns a copy of the offering that shares no mutable data with o.
func (o Offering) DeepCopy() Offering {
	o.Capacity = o.Capacity.DeepCopy()
	if o.Overhead != nil {
		overhead := o.Overhead.DeepCopy()
		o.Overhead = &overhead
	}
	if o.PriceBasis != nil {
		basis := *o.PriceBasis
		o.PriceBasis = &basis
	}
	if o.InterruptionRate != nil {
		rate := *o.InterruptionRate
		o.InterruptionRate = &rate
	}
	return o
}

// DeepCopy returns a copy of the overhead that shares nothing with o.
func (o Overhead) DeepCopy() Overhead {
	o.KubeReserved = o.KubeReserved.DeepCopy()
	o.SystemReserved = o.SystemReserved.DeepCopy()
	o.EvictionThreshold = o.EvictionThreshold.DeepCopy()
	return o
}

// DeepCopy returns a copy of the pool that shares nothing with p.
func (p DevicePool) DeepCopy() DevicePool {
	p.Devices, p.SharedCounters = slices.Clone(p.Devices), slices.Clone(p.SharedCounters)
	for i := range p.Devices {
		p.Devices[i] = *p.Devices[i].DeepCopy()
	}
	for i := range p.SharedCounters {
		p.SharedCounters[i] = *p.SharedCounters[i].DeepCopy()
	}
	p.Bindings = slices.Clone(p.Bindings)
	for i := range p.Bindings {
		p.Bindings[i] = p.Bindings[i].DeepCopy()
	}
	return p
}

// DeepCopy returns a copy of the binding that shares nothing with b.
func (b AttributeBinding) DeepCopy() AttributeBinding {
	b.Devices, b.Values = slices.Clone(b.Devices), maps.Clone(b.Values)
	for label, value := range b.Values {
		b.Values[label] = *value.DeepCopy()
	}
	return b
}
