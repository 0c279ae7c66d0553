package unavailable

import (
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
)

// Defaults of Options.
const (
	// DefaultFirst is how long the first mark of an offering lasts.
	DefaultFirst = 3 * time.Minute
	// DefaultLongest is how long repeated marks of an offering last at most.
	DefaultLongest = 30 * time.Minute
	// DefaultJitter is the fraction by which a lifetime may be shorter or longer.
	DefaultJitter = 0.1
	// DefaultProbeTimeout is how long a launch that tries an offering on probation may take before another launch may try it.
	DefaultProbeTimeout = 2 * time.Minute
)

// Options are the settings of a Memory. The zero value means the defaults.
type Options struct {
	// First is how long the first mark lasts; 0 means DefaultFirst.
	First time.Duration
	// Longest is how long repeated marks last at most; 0 means DefaultLongest, and a value less than First means First.
	Longest time.Duration
	// Jitter is the fraction, from 0 to 1, by which a mark may last shorter or longer; 0 means DefaultJitter, a negative value means none.
	Jitter float64
	// Seed is the seed of the jitter. Replicas may have different seeds.
	Seed uint64
	// ProbeTimeout is how long a launch on probation may take; 0 means DefaultProbeTimeout.
	ProbeTimeout time.Duration
	// Neighbours returns types that are likely to be out of stock if the given type is, in the same zone and capacity type. Their offerings
	// go on probation when the given type is closed. Nil means none; see LargerSizes. It is called without a lock and must be safe for
	// concurrent use.
	Neighbours func(instanceType string) []string
	// VCPUs returns the number of vCPUs of an instance type, because EC2's quotas count vCPUs. If the function is nil or returns 0, the
	// number is unknown. An exhausted quota then makes all instance types that it counts unavailable.
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
	case !(o.Jitter > 0): // also true for a NaN
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
// the family probably has none either. Each call gets the catalogue from current, which may return nil while no catalogue exists.
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

// VCPUs returns a function that returns the vCPUs of the catalogue's types, and 0 for other types.
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
