package unavailable

import (
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
)

// Defaults of Options.
const (
	// DefaultFirst is how long the first mark of a thing lasts.
	DefaultFirst = 3 * time.Minute
	// DefaultLongest bounds the length of repeated marks of a thing.
	DefaultLongest = 30 * time.Minute
	// DefaultJitter is the part of a lifetime by which it may be shorter or longer.
	DefaultJitter = 0.1
	// DefaultProbeTimeout is how long a launch that tries a thing on probation may take before another may try.
	DefaultProbeTimeout = 2 * time.Minute
)

// Options are the settings of a Memory. The zero value takes the defaults.
type Options struct {
	// First is how long the first mark lasts; 0 means DefaultFirst.
	First time.Duration
	// Longest bounds the lifetime of repeated marks; 0 means DefaultLongest, less than First means First.
	Longest time.Duration
	// Jitter is a fraction from 0 to 1; 0 means DefaultJitter, a negative value means none.
	Jitter float64
	// Seed decides the jitter. Replicas may have different seeds.
	Seed uint64
	// ProbeTimeout is how long a launch on probation may take; 0 means DefaultProbeTimeout.
	ProbeTimeout time.Duration
	// Neighbours are types that are likely to be out of stock when a type is, in the same zone and of the same capacity
	// type: they go on probation with it. Nil means none; see LargerSizes. It is called without a lock held and must be
	// safe for concurrent use.
	Neighbours func(instanceType string) []string
	// VCPUs is the number of vCPUs of a type, which quotas are counted in; nil or 0 means unknown, and a quota then
	// closes its whole class.
	VCPUs func(instanceType string) int64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() Options {
	if o.First <= 0 {
		o.First = DefaultFirst
	}
	if o.Longest <= 0 {
		o.Longest = DefaultLongest
	}
	o.Longest = max(o.Longest, o.First)
	switch {
	case o.Jitter == 0:
		o.Jitter = DefaultJitter
	case !(o.Jitter > 0): // a NaN too
		o.Jitter = 0
	}
	o.Jitter = min(o.Jitter, 1)
	if o.ProbeTimeout <= 0 {
		o.ProbeTimeout = DefaultProbeTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// LargerSizes returns the types of a catalogue that are in the same family and have more vCPUs: if a type has no capacity, a larger type of
// the family probably has none either. The catalogue is read again at each call; current may return nil while there is none.
func LargerSizes(current func() *catalog.Catalog) func(instanceType string) []string {
	return func(instanceType string) []string {
		c := current()
		if c == nil {
			return nil
		}
		small, ok := c.Lookup(instanceType)
		if !ok {
			return nil
		}
		var larger []string
		for t := range c.Family(instanceType) {
			if t.VCPUs > small.VCPUs {
				larger = append(larger, t.Name)
			}
		}
		return larger
	}
}

// VCPUs gives the vCPUs of a catalogue's types; 0 for others.
func VCPUs(current func() *catalog.Catalog) func(instanceType string) int64 {
	return func(instanceType string) int64 {
		if c := current(); c != nil {
			if t, ok := c.Lookup(instanceType); ok {
				return t.VCPUs
			}
		}
		return 0
	}
}
