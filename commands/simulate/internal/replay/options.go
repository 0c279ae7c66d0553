package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// Options describe the simulation.
type Options struct {
	// Snapshot contains the pools, the instance types and everything else that planning reads. Its pods are pending at the beginning, and
	// never end. Its nodes are ignored, and its device claims are not allocated at the beginning. Required, with at least one NodePool.
	Snapshot *scheduling.Snapshot
	// DeviceMatcher evaluates selectors of devices; nil means that pods stay pending if their claims or classes have selectors.
	DeviceMatcher scheduling.DeviceMatcher
	// Trace contains the pods, in the order of arrival.
	Trace []Arrival
	// Start is the time when the trace begins; zero means the snapshot's time.
	Start time.Time
	// Length is the simulated time. More than 0.
	Length time.Duration
	// Seed is the seed of all random choices.
	Seed uint64
	// Query is the query for the planner.
	Query scheduling.Query
	// Boot is the time from the launch of a node until it is ready. Drain is the time that it takes to empty and remove a node. 0 means
	// DefaultBoot and DefaultDrain.
	Boot, Drain time.Duration
	// Consolidate is the interval between two runs of the disruption planner; 0 means DefaultConsolidate, and a negative value means never.
	Consolidate time.Duration
	// Disruption is the planner with its thresholds. Its fields Query and Work are replaced by the fields of these options, and commands do
	// not wait for validation.
	Disruption disruption.Global
	// Work limits the search of each consolidation check, see disruption.Global; 0 means DefaultWork.
	Work int
	// Interruptions is the average number of interruptions of a spot node in a month of 730 hours; 0 means no interruptions.
	Interruptions float64
	// Estimated reports whether the price of an instance type with a capacity type is an estimate; nil means that no price is an estimate.
	Estimated func(instanceType, capacityType string) bool
	// Progress is called from time to time with the simulated time; nil means that it is not called.
	Progress func(at time.Duration)
}

// Defaults of Options.
const (
	DefaultBoot        = 60 * time.Second
	DefaultDrain       = 30 * time.Second
	DefaultConsolidate = time.Hour
	// DefaultWork is less than the planner's own default, because a simulation plans thousands of times.
	DefaultWork = 100
)

// complete checks the options and sets defaults.
func (o Options) complete() (Options, error) {
	if o.Snapshot == nil || len(o.Snapshot.NodePools) == 0 {
		return o, errors.New("replay: no NodePool: nothing could be launched")
	}
	if o.Length <= 0 || o.Length > maxDays*24*time.Hour {
		return o, fmt.Errorf("replay: length %s: must be between 0 and %d days", o.Length, maxDays)
	}
	if o.Interruptions < 0 || o.Interruptions > 1e4 {
		return o, fmt.Errorf("replay: %g interruptions a month: must be between 0 and 10,000", o.Interruptions)
	}
	if o.Boot < 0 || o.Drain < 0 {
		return o, errors.New("replay: the times of booting and draining nodes must not be negative")
	}
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{{&o.Boot, DefaultBoot}, {&o.Drain, DefaultDrain}, {&o.Consolidate, DefaultConsolidate}} {
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	if o.Work == 0 {
		o.Work = DefaultWork
	}
	if o.Start.IsZero() {
		o.Start = o.Snapshot.Time
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Estimated == nil {
		o.Estimated = func(string, string) bool { return false }
	}
	if o.Progress == nil {
		o.Progress = func(time.Duration) {}
	}
	return o, nil
}
