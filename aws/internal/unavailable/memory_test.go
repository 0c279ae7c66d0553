package unavailable_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/internal/seeded"
)

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// exact are options whose lifetimes are exactly 3, 6, 12, 24 and 30 minutes.
func exact(c *clock) unavailable.Options { return unavailable.Options{Jitter: -1, Now: c.Now} }

func ice(capacityType, instanceType, zone string) unavailable.Failure {
	return unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: capacityType, InstanceType: instanceType, Zone: zone}
}

func keyOf(f unavailable.Failure) unavailable.Key {
	return unavailable.Key{CapacityType: f.CapacityType, InstanceType: f.InstanceType, Zone: f.Zone, GroupID: f.GroupID, Partition: f.Partition}
}

func closed(m *unavailable.Memory, key unavailable.Key, subnets ...string) bool {
	_, is := m.Snapshot().Closed(key, subnets)
	return is
}

// AWI-099, AWI-100, AWI-105: exactly the offering is closed, for three minutes.
func TestMarkLastsThreeMinutes(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	spot := ice("spot", "m5.large", "us-east-1a")
	m.Observe(spot)
	for _, other := range []unavailable.Key{
		{CapacityType: "on-demand", InstanceType: "m5.large", Zone: "us-east-1a"},
		{CapacityType: "spot", InstanceType: "m5.xlarge", Zone: "us-east-1a"},
		{CapacityType: "spot", InstanceType: "m5.large", Zone: "us-east-1b"},
	} {
		if closed(m, other) {
			t.Errorf("%s is closed", other)
		}
	}
	c.advance(3*time.Minute - time.Nanosecond)
	if reason, is := m.Snapshot().Closed(keyOf(spot), nil); !is || reason != unavailable.ReasonOffering {
		t.Errorf("closed before its time is up: %t, %q", is, reason)
	}
	c.advance(time.Nanosecond)
	if closed(m, keyOf(spot)) {
		t.Error("is closed after three minutes")
	}
}

// AWI-099: a mark that comes while another is in force renews it.
func TestMarkingAgainRenews(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	f := ice("spot", "m5.large", "us-east-1a")
	m.Observe(f)
	c.advance(2 * time.Minute)
	m.Observe(f)
	c.advance(3*time.Minute - 1)
	if !closed(m, keyOf(f)) {
		t.Error("the lifetime was not renewed")
	}
	c.advance(1)
	if closed(m, keyOf(f)) {
		t.Error("launches that failed together made the lifetime longer")
	}
}

// OPP-10: each failure after a mark ran out doubles the lifetime, up to half an hour; quiet forgets.
func TestLifetimeDoubles(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	f := ice("spot", "m5.large", "us-east-1a")
	for _, minutes := range []time.Duration{3, 6, 12, 24, 30, 30} {
		m.Observe(f)
		c.advance(minutes*time.Minute - 1)
		if !closed(m, keyOf(f)) {
			t.Fatalf("open before %d minutes", minutes)
		}
		c.advance(1)
		if closed(m, keyOf(f)) {
			t.Fatalf("closed after %d minutes", minutes)
		}
	}
	c.advance(30 * time.Minute)
	m.Snapshot()
	m.Observe(f)
	c.advance(3 * time.Minute)
	if closed(m, keyOf(f)) {
		t.Error("half an hour of quiet is not forgotten")
	}
}

// OPP-10: after its time is up an offering is tried by one launch; the others leave it alone until that one knows.
func TestProbe(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	f := ice("spot", "m5.large", "us-east-1a")
	key := keyOf(f)
	if a := m.Begin(key); len(a.Closed()) != 0 || closed(m, key) {
		t.Fatal("an offering that nothing is known of was given to one launch")
	}
	m.Observe(f)
	if a := m.Begin(key); len(a.Closed()) != 1 {
		t.Fatal("a launch may try what is closed")
	}
	c.advance(3 * time.Minute)
	first := m.Begin(key)
	if len(first.Closed()) != 0 {
		t.Fatal("the first launch may not try")
	}
	if second := m.Begin(key); len(second.Closed()) != 1 || !closed(m, key) {
		t.Fatal("a second launch may try while the first has not ended")
	}
	first.End()
	if closed(m, key) {
		t.Fatal("closed after a launch that did not get to try it")
	}
	second := m.Begin(key)
	m.Observe(f)
	second.End()
	c.advance(6*time.Minute - 1)
	if !closed(m, key) {
		t.Fatal("a failed probe did not double the lifetime")
	}
	c.advance(1)
	third := m.Begin(key)
	third.End(key)
	m.Observe(f)
	c.advance(3 * time.Minute)
	if closed(m, key) {
		t.Error("a successful probe did not forget what was")
	}
	// A launch that never ends does not hold the offering for ever.
	m.Begin(key)
	c.advance(2*time.Minute - 1)
	if !closed(m, key) {
		t.Error("open while it is tried")
	}
	c.advance(1)
	if closed(m, key) {
		t.Error("closed by a launch that never ended")
	}
}

// AWI-102: the errors of an answer count, also when there was an instance in it.
func TestErrorsBesideAnInstance(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	failed, launched := ice("spot", "m5.large", "us-east-1a"), ice("spot", "m5.large", "us-east-1b")
	a := m.Begin(keyOf(failed), keyOf(launched))
	m.Observe(failed)
	a.End(keyOf(launched))
	if !closed(m, keyOf(failed)) || closed(m, keyOf(launched)) {
		t.Error("the wrong offering is closed")
	}
}

// An instance of an offering that was marked after the launch began does not reopen it.
func TestSuccessDoesNotUndoALaterMark(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	f := ice("spot", "m5.large", "us-east-1a")
	a := m.Begin(keyOf(f))
	m.Observe(f)
	a.End(keyOf(f))
	if !closed(m, keyOf(f)) {
		t.Error("reopened")
	}
}

// OPP-10: larger sizes of a family are tried one launch at a time, but are not closed.
func TestNeighboursGoOnProbation(t *testing.T) {
	c := newClock()
	o := exact(c)
	o.Neighbours = func(name string) []string {
		if name == "m5.large" {
			return []string{"m5.xlarge"}
		}
		return nil
	}
	m := unavailable.New(o)
	m.Observe(ice("spot", "m5.large", "us-east-1a"))
	large := unavailable.Key{CapacityType: "spot", InstanceType: "m5.xlarge", Zone: "us-east-1a"}
	elsewhere := unavailable.Key{CapacityType: "spot", InstanceType: "m5.xlarge", Zone: "us-east-1b"}
	if closed(m, large) {
		t.Fatal("a neighbour is closed without having failed")
	}
	a := m.Begin(large, elsewhere)
	if got := m.Begin(large, elsewhere).Closed(); len(got) != 1 || got[0] != large {
		t.Fatalf("a second launch leaves out %v", got)
	}
	a.End()
	c.advance(3 * time.Minute)
	m.Begin(large)
	if got := m.Begin(large).Closed(); len(got) != 0 {
		t.Error("the suspicion outlives what it came from")
	}
}

// AWI-105, OPP-10: a quota closes the types of its class from the refused size on, everywhere.
func TestQuota(t *testing.T) {
	c := newClock()
	o := exact(c)
	o.VCPUs = func(name string) int64 { return map[string]int64{"c5.4xlarge": 16, "m5.2xlarge": 8}[name] }
	m := unavailable.New(o)
	refused := func(name string) {
		m.Observe(unavailable.Failure{Code: "VcpuLimitExceeded", CapacityType: "on-demand", InstanceType: name, Zone: "us-east-1a"})
	}
	refused("c5.4xlarge")
	s := m.Snapshot()
	for _, test := range []struct {
		capacityType, name string
		vcpus              int64
		want               bool
	}{
		{"on-demand", "m5.4xlarge", 16, true},
		{"on-demand", "t3.2xlarge", 8, false},
		{"spot", "m5.4xlarge", 16, false},
		{"on-demand", "g5.4xlarge", 16, false},
	} {
		if got := s.QuotaClosed(test.capacityType, test.name, test.vcpus); got != test.want {
			t.Errorf("%s %s is closed: %t", test.capacityType, test.name, got)
		}
	}
	refused("m5.2xlarge")
	if !m.Snapshot().QuotaClosed("on-demand", "t3.2xlarge", 8) {
		t.Error("the smaller size that was refused does not count")
	}
	c.advance(3 * time.Minute)
	if m.Snapshot().QuotaClosed("on-demand", "m5.4xlarge", 16) {
		t.Error("closed for ever")
	}
	refused("c5.4xlarge")
	if m.Snapshot().QuotaClosed("on-demand", "t3.2xlarge", 8) {
		t.Error("what was refused long ago counts")
	}
}

// AWI-100: a capacity type; all subnets of a zone; AWI-094: groups and partitions.
func TestOtherMarks(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	m.Observe(
		unavailable.Failure{Code: "AuthFailure.ServiceLinkedRoleCreationNotPermitted", CapacityType: "spot"},
		unavailable.Failure{Code: "InsufficientFreeAddressesInSubnet", CapacityType: "on-demand", SubnetID: "subnet-1", InstanceType: "m5.large", Zone: "us-east-1a"},
		unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: "on-demand", InstanceType: "r5.large", Zone: "us-east-1a", GroupID: "pg-1", Partition: 2},
		unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: "on-demand", InstanceType: "c5.large", Zone: "us-east-1a", GroupID: "pg-1"},
		unavailable.Failure{Code: "X", Message: "limit of instances in this spread placement group", CapacityType: "on-demand", InstanceType: "c5.large", Zone: "us-east-1c", GroupID: "pg-2"},
	)
	on := func(name, zone, group string, partition int32) unavailable.Key {
		return unavailable.Key{CapacityType: "on-demand", InstanceType: name, Zone: zone, GroupID: group, Partition: partition}
	}
	for _, test := range []struct {
		name    string
		key     unavailable.Key
		subnets []string
		want    string
	}{
		{"AWI-100 capacity type", unavailable.Key{CapacityType: "spot", InstanceType: "z", Zone: "z"}, nil, unavailable.ReasonCapacityType},
		{"AWI-100 all subnets", on("m5.large", "us-east-1a", "", 0), []string{"subnet-1"}, unavailable.ReasonSubnets},
		{"AWI-100 one of two subnets", on("m5.large", "us-east-1a", "", 0), []string{"subnet-1", "subnet-2"}, ""},
		{"AWI-100 no subnets", on("m5.large", "us-east-1a", "", 0), nil, ""},
		{"AWI-094 the partition", on("r5.large", "us-east-1a", "pg-1", 2), nil, unavailable.ReasonGroup},
		{"AWI-094 another partition", on("r5.large", "us-east-1a", "pg-1", 1), nil, ""},
		{"AWI-094 no group", on("r5.large", "us-east-1a", "", 0), nil, ""},
		{"AWI-094 the group closes its partitions", on("c5.large", "us-east-1a", "pg-1", 7), nil, unavailable.ReasonGroup},
		{"AWI-101 a full spread group closes all types", on("m7i.large", "us-east-1c", "pg-2", 0), nil, unavailable.ReasonGroup},
		{"AWI-101 in that zone", on("m7i.large", "us-east-1a", "pg-2", 0), nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			reason, is := m.Snapshot().Closed(test.key, test.subnets)
			if reason != test.want || is != (test.want != "") {
				t.Errorf("closed %t, %q, want %q", is, reason, test.want)
			}
		})
	}
	m.Flush()
	if !m.Snapshot().Empty() {
		t.Error("AWI-104: something is left after a flush")
	}
}

// AWI-094: what is marked without a group closes the offering in every group.
func TestPlainMarkClosesGroups(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	m.Mark(unavailable.Key{CapacityType: "spot", InstanceType: "m5.large", Zone: "a"}) // AWI-101: an interruption notice
	if !closed(m, unavailable.Key{CapacityType: "spot", InstanceType: "m5.large", Zone: "a", GroupID: "pg-1", Partition: 1}) {
		t.Error("open in the group")
	}
}

// AWI-104: a reader sees the same snapshot until something changes, and never an old one after a change.
func TestSnapshotIsShared(t *testing.T) {
	c := newClock()
	m := unavailable.New(exact(c))
	empty := m.Snapshot()
	c.advance(time.Hour)
	if m.Snapshot() != empty {
		t.Error("another snapshot, though nothing changed")
	}
	m.Observe(unavailable.Failure{Code: "RequestLimitExceeded", CapacityType: "spot", InstanceType: "m5.large", Zone: "a"})
	if m.Snapshot() != empty {
		t.Error("AWI-103: an error that is not about capacity changed something")
	}
	m.Observe(ice("spot", "m5.large", "a"))
	marked := m.Snapshot()
	if marked == empty || len(marked.Keys()) != 1 || len(empty.Keys()) != 0 {
		t.Error("the mark is not in a snapshot of its own")
	}
	c.advance(3 * time.Minute)
	if m.Snapshot() == marked {
		t.Error("an expiry is no change")
	}
}

// OPP-10: lifetimes differ by the seed and the offering, within the jitter, and are the same in each run.
func TestJitter(t *testing.T) {
	lifetimes := func(seed uint64) map[time.Duration]bool {
		out := map[time.Duration]bool{}
		for i := range 50 {
			c := newClock()
			m := unavailable.New(unavailable.Options{Seed: seed, Now: c.Now})
			f := ice("spot", fmt.Sprintf("m%d.large", i), "a")
			m.Observe(f)
			step := time.Second
			for d := time.Duration(0); ; d += step {
				if !closed(m, keyOf(f)) {
					out[d] = true
					break
				}
				c.advance(step)
			}
		}
		return out
	}
	one := lifetimes(1)
	if len(one) < 15 {
		t.Errorf("50 offerings have only %d lifetimes", len(one))
	}
	for d := range one {
		if d < 162*time.Second || d > 199*time.Second {
			t.Errorf("a lifetime of %s is out of bounds", d)
		}
	}
	if fmt.Sprint(one) != fmt.Sprint(lifetimes(1)) {
		t.Error("the same seed gives other lifetimes")
	}
	if fmt.Sprint(one) == fmt.Sprint(lifetimes(2)) {
		t.Error("another seed gives the same lifetimes")
	}
}

// However marks, launches and reads are interleaved: what was marked is closed for at least its lifetime, and nothing
// stays closed for ever.
func TestMarksAreSeen(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		c := newClock()
		m := unavailable.New(unavailable.Options{Seed: rapid.Uint64().Draw(t, "seed"), Now: c.Now})
		marked := map[unavailable.Key]time.Time{}
		var attempts []*unavailable.Attempt
		keys := rapid.Custom(func(t *rapid.T) unavailable.Key {
			k := unavailable.Key{
				CapacityType: rapid.SampledFrom([]string{"spot", "on-demand"}).Draw(t, "capacityType"),
				InstanceType: rapid.SampledFrom([]string{"m5.large", "c5.large"}).Draw(t, "type"),
				Zone:         rapid.SampledFrom([]string{"a", "b"}).Draw(t, "zone"),
				GroupID:      rapid.SampledFrom([]string{"", "pg"}).Draw(t, "group"),
			}
			if k.GroupID != "" {
				k.Partition = rapid.Int32Range(0, 2).Draw(t, "partition")
			}
			return k
		})
		t.Repeat(map[string]func(*rapid.T){
			"mark": func(t *rapid.T) {
				key := keys.Draw(t, "key")
				f := ice(key.CapacityType, key.InstanceType, key.Zone)
				f.GroupID, f.Partition = key.GroupID, key.Partition
				m.Observe(f)
				marked[key] = c.Now()
			},
			"advance": func(t *rapid.T) {
				c.advance(time.Duration(rapid.Int64Range(0, int64(5*time.Minute)).Draw(t, "by")))
			},
			"begin": func(t *rapid.T) {
				attempts = append(attempts, m.Begin(rapid.SliceOfN(keys, 1, 3).Draw(t, "keys")...))
			},
			"end": func(t *rapid.T) {
				if len(attempts) > 0 {
					rapid.SampledFrom(attempts).Draw(t, "attempt").End(rapid.SliceOfN(keys, 0, 2).Draw(t, "launched")...)
				}
			},
			"": func(t *rapid.T) {
				for key, at := range marked {
					if age := c.Now().Sub(at); age < 162*time.Second && !closed(m, key) {
						t.Fatalf("%s was marked %s ago and is open", key, age)
					}
				}
			},
		})
		c.advance(2 * time.Hour)
		if !m.Snapshot().Empty() {
			t.Fatal("something is closed after two hours")
		}
	})
}

// The memory is used from many goroutines at once (run with -race).
func TestConcurrentUse(t *testing.T) {
	m := unavailable.New(unavailable.Options{})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				f := ice("spot", fmt.Sprintf("m%d.large", j%7), "a")
				a := m.Begin(keyOf(f))
				if i%2 == 0 {
					m.Observe(f)
					if !closed(m, keyOf(f)) {
						t.Error("a mark is not seen by who made it")
					}
				}
				a.End()
			}
		})
	}
	group.Wait()
}

// A stock-out on dedicated hardware or on a host closes nothing on other hardware, and one on shared hardware closes nothing on dedicated.
func TestHardwareHasStockOfItsOwn(t *testing.T) {
	all := []unavailable.Hardware{
		{}, unavailable.HardwareOf("dedicated", "h-1"), unavailable.HardwareOf("host", "h-1"), unavailable.HardwareOf("host", "h-2"), unavailable.HardwareOf("host", ""),
	}
	for i, out := range all {
		m := unavailable.New(unavailable.Options{})
		m.Observe(unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: "on-demand", InstanceType: "m5.large", Zone: "a", Hardware: out})
		for j, asked := range all {
			key := unavailable.Key{CapacityType: "on-demand", InstanceType: "m5.large", Zone: "a", Hardware: asked, GroupID: "pg-1"}
			if _, closed := m.Snapshot().Closed(key, nil); closed != (i == j) {
				t.Errorf("after a stock-out on %q, %q is closed: %t", out, asked, closed)
			}
		}
	}
	if unavailable.HardwareOf("default", "h-1") != unavailable.HardwareOf("", "") {
		t.Error("default tenancy is not shared hardware")
	}
	// Instances on hosts don't count against quotas of vCPUs.
	if e := unavailable.Judge(unavailable.Failure{Code: "VcpuLimitExceeded", CapacityType: "on-demand", InstanceType: "m5.large", Zone: "a", Hardware: all[2]}); len(e.Quotas) > 0 {
		t.Errorf("a launch on a host used up the quotas %v", e.Quotas)
	}
}
