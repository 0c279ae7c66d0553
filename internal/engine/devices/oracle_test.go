package devices_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/devices"
	"github.com/drawknife/drawknife/internal/seeded"
)

// use is one device that one request has.
type use struct {
	claim, request, alternative int
	device                      *resourcev1.Device
}

// oracle decides by trying everything whether claims can be allocated on one node with one pool. It shares nothing with the allocator.
type oracle struct {
	slice  *resourcev1.ResourceSlice
	claims []*resourcev1.DeviceClaim
	// before are devices that others have, how often.
	before []use
}

// sub reads both forms of a request.
func sub(r *resourcev1.DeviceRequest, alternative int) *resourcev1.DeviceSubRequest {
	if e := r.Exactly; e != nil {
		return &resourcev1.DeviceSubRequest{Name: "", Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity}
	}
	return &r.FirstAvailable[alternative]
}

func (o *oracle) possible() bool { return o.try(0, 0, nil) }

func (o *oracle) try(claim, request int, uses []use) bool {
	if claim == len(o.claims) {
		return o.valid(uses)
	}
	if request == len(o.claims[claim].Requests) {
		return o.try(claim+1, 0, uses)
	}
	r := &o.claims[claim].Requests[request]
	for alternative := range max(1, len(r.FirstAvailable)) {
		s := sub(r, alternative)
		if s.AllocationMode == resourcev1.DeviceAllocationModeAll {
			next := slices.Clone(uses)
			for i := range o.slice.Spec.Devices {
				d := &o.slice.Spec.Devices[i]
				if o.matches(s, d) {
					next = append(next, use{claim, request, alternative, d})
				}
			}
			if len(next) > len(uses) && o.try(claim, request+1, next) {
				return true
			}
			continue
		}
		if o.choose(claim, request, alternative, int(s.Count), 0, uses) {
			return true
		}
	}
	return false
}

func (o *oracle) choose(claim, request, alternative, left, from int, uses []use) bool {
	if left == 0 {
		return o.try(claim, request+1, uses)
	}
	for i := from; i < len(o.slice.Spec.Devices); i++ {
		if o.choose(claim, request, alternative, left-1, i+1, append(slices.Clone(uses), use{claim, request, alternative, &o.slice.Spec.Devices[i]})) {
			return true
		}
	}
	return false
}

func (o *oracle) matches(s *resourcev1.DeviceSubRequest, d *resourcev1.Device) bool {
	for _, selector := range s.Selectors {
		name, value, _ := strings.Cut(selector.CEL.Expression, "=")
		if a, ok := d.Attributes[resourcev1.QualifiedName(name)]; !ok || *a.StringValue != value {
			return false
		}
	}
	if s.Capacity != nil {
		for name, q := range s.Capacity.Requests {
			if c, ok := d.Capacity[name]; !ok || q.Cmp(c.Value) > 0 {
				return false
			}
		}
	}
	return true
}

func (o *oracle) valid(uses []use) bool {
	for _, u := range uses {
		s := sub(&o.claims[u.claim].Requests[u.request], u.alternative)
		if !o.matches(s, u.device) || len(u.device.Taints) > 0 && len(s.Tolerations) == 0 {
			return false
		}
	}
	every := append(slices.Clone(o.before), uses...)
	for i := range o.slice.Spec.Devices {
		if !o.fits(every, &o.slice.Spec.Devices[i]) {
			return false
		}
	}
	drawn := map[string]int64{}
	var distinctDevices []*resourcev1.Device
	for _, u := range every {
		if !slices.Contains(distinctDevices, u.device) {
			distinctDevices = append(distinctDevices, u.device)
		}
	}
	for _, d := range distinctDevices {
		for _, c := range d.ConsumesCounters {
			for name, n := range c.Counters {
				drawn[c.CounterSet+name] += n.Value.Value()
			}
		}
	}
	for _, set := range o.slice.Spec.SharedCounters {
		for name, n := range set.Counters {
			if drawn[set.Name+name] > n.Value.Value() {
				return false
			}
		}
	}
	for c, claim := range o.claims {
		for i := range claim.Constraints {
			if !o.keeps(c, &claim.Constraints[i], uses) {
				return false
			}
		}
	}
	return true
}

// fits reports whether a device has all its uses.
func (o *oracle) fits(uses []use, d *resourcev1.Device) bool {
	n, used := 0, int64(0)
	memory := d.Capacity["memory"]
	for _, u := range uses {
		if u.device != d {
			continue
		}
		n++
		if u.claim < 0 {
			used += 1 // what others have takes 1
			continue
		}
		s := sub(&o.claims[u.claim].Requests[u.request], u.alternative)
		if s.Capacity == nil {
			used += memory.Value.Value()
		} else {
			q := s.Capacity.Requests["memory"]
			used += q.Value()
		}
	}
	if d.AllowMultipleAllocations == nil {
		return n <= 1
	}
	return used <= memory.Value.Value()
}

func (o *oracle) keeps(c int, constraint *resourcev1.DeviceConstraint, uses []use) bool {
	name, unique := constraint.MatchAttribute, false
	if name == nil {
		name, unique = constraint.DistinctAttribute, true
	}
	seen := map[string]int{}
	total := 0
	for _, u := range uses {
		if u.claim != c || len(constraint.Requests) > 0 && !slices.Contains(constraint.Requests, o.claims[c].Requests[u.request].Name) {
			continue
		}
		a, ok := u.device.Attributes[resourcev1.QualifiedName(strings.TrimPrefix(string(*name), driver+"/"))]
		if !ok {
			return false
		}
		seen[*a.StringValue]++
		total++
	}
	if unique {
		return len(seen) == total
	}
	return len(seen) <= 1
}

func drawSlice(t *rapid.T) *resourcev1.ResourceSlice {
	s := slice("n")
	partitions := rapid.Bool().Draw(t, "partitions")
	if partitions {
		counters(counters(s, "s0", "m", "3"), "s1", "m", "2")
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "devices") {
		d := device(fmt.Sprint("d", i), attribute("a", rapid.SampledFrom([]string{"1", "2"}).Draw(t, "a")))
		if rapid.Bool().Draw(t, "has b") {
			attribute("b", rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "b"))(&d)
		}
		capacity("memory", fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "memory")))(&d)
		if rapid.IntRange(0, 3).Draw(t, "shared") == 0 {
			shared(&d)
		}
		if rapid.IntRange(0, 4).Draw(t, "tainted") == 0 {
			taint("sick", resourcev1.DeviceTaintEffectNoExecute)(&d)
		}
		if partitions {
			consumes(rapid.SampledFrom([]string{"s0", "s1"}).Draw(t, "set"), "m", fmt.Sprint(rapid.IntRange(1, 2).Draw(t, "takes")))(&d)
		}
		s.Spec.Devices = append(s.Spec.Devices, d)
	}
	return s
}

func drawRequest(t *rapid.T, name string, plain bool) resourcev1.DeviceRequest {
	var options []requestOption
	if rapid.Bool().Draw(t, "selects") {
		options = append(options, where("a="+rapid.SampledFrom([]string{"1", "2"}).Draw(t, "value")))
	}
	if rapid.IntRange(0, 2).Draw(t, "asks") == 0 {
		options = append(options, asks("memory", fmt.Sprint(rapid.IntRange(1, 3).Draw(t, "asked"))))
	}
	if rapid.Bool().Draw(t, "tolerates") {
		options = append(options, tolerates("sick"))
	}
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0:
		return all(name, options...)
	case kind == 1 && !plain:
		return firstOf(name, drawRequest(t, "x", true), drawRequest(t, "y", true))
	}
	return exactly(name, int64(rapid.IntRange(1, 2).Draw(t, "count")), options...)
}

func drawClaim(t *rapid.T) *resourcev1.DeviceClaim {
	c := claimOf(drawRequest(t, "r", false))
	if rapid.Bool().Draw(t, "two requests") {
		c.Requests = append(c.Requests, drawRequest(t, "s", false))
	}
	for range rapid.IntRange(0, 2).Draw(t, "constraints") {
		attribute := driver + "/" + rapid.SampledFrom([]string{"a", "b"}).Draw(t, "attribute")
		var about []string
		if rapid.Bool().Draw(t, "about r") {
			about = []string{"r"}
		}
		if rapid.Bool().Draw(t, "match") {
			constrained(c, match(attribute, about...))
		} else {
			constrained(c, distinct(attribute, about...))
		}
	}
	return c
}

// The allocator finds devices if and only if there is a way, what it finds is one, and to release it leaves nothing behind.
func TestAllocatesAsTryingEverythingDoes(t *testing.T) {
	found, missed := 0, map[devices.Code]int{}
	seeded.Times(t, 4000, func(t *rapid.T) {
		o := &oracle{slice: drawSlice(t)}
		u := devices.NewUsage(devices.NewInventory([]*resourcev1.ResourceSlice{o.slice}))
		for i := range o.slice.Spec.Devices {
			d := &o.slice.Spec.Devices[i]
			if rapid.IntRange(0, 5).Draw(t, "held") > 0 {
				continue
			}
			o.before = append(o.before, use{claim: -1, device: d})
			u.Hold(&resourcev1.DeviceRequestAllocationResult{
				Driver: driver, Pool: "n", Device: d.Name, ConsumedCapacity: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("1")},
			})
		}
		if !o.valid(nil) {
			t.Skip("more is held than there is")
		}
		var claims []*devices.Claim
		for range rapid.IntRange(1, 2).Draw(t, "claims") {
			spec := drawClaim(t)
			c, err := devices.NewClaim("c", spec, classes())
			if err != nil {
				t.Fatal(err)
			}
			o.claims, claims = append(o.claims, spec), append(claims, c)
		}
		before := u.Clone()
		matches := devices.NewMatches(&words{})
		a, miss := devices.Allocate([]devices.Source{{Usage: u}}, claims, matches)
		if miss != nil && miss.Code == devices.MissAllConstraint {
			t.Skip("the scheduler gives up, although there may be a way")
		}
		if want := o.possible(); (a != nil) != want {
			t.Fatalf("possible: %t, allocator: %v, %v", want, a, miss)
		}
		if a == nil {
			missed[miss.Code]++
			if diff := cmp.Diff(state(before), state(u)); diff != "" {
				t.Fatalf("a miss leaves something behind: %s", diff)
			}
			return
		}
		found++
		if uses := o.usesOf(a); !o.valid(uses) || !o.whole(uses) {
			t.Fatalf("not valid: %v", a.Results)
		}
		a.Release()
		if diff := cmp.Diff(state(before), state(u)); diff != "" {
			t.Fatalf("Release leaves something behind: %s", diff)
		}
	})
	if !t.Failed() && !testing.Short() && (found < 400 || len(missed) < 6) {
		t.Errorf("the draws are too much alike: %d found, missed %v", found, missed)
	}
}

// state is what a usage says of itself.
func state(u *devices.Usage) string { return fmt.Sprintf("%v", u.State()) }

// usesOf reads an allocation.
func (o *oracle) usesOf(a *devices.Allocation) []use {
	var out []use
	for _, r := range a.Results {
		u := use{claim: r.Claim}
		name, alternative, _ := strings.Cut(r.Request, "/")
		for i := range o.claims[r.Claim].Requests {
			if in := &o.claims[r.Claim].Requests[i]; in.Name == name {
				u.request = i
				u.alternative = max(0, slices.IndexFunc(in.FirstAvailable, func(s resourcev1.DeviceSubRequest) bool { return s.Name == alternative }))
			}
		}
		for i := range o.slice.Spec.Devices {
			if o.slice.Spec.Devices[i].Name == r.ID.Device {
				u.device = &o.slice.Spec.Devices[i]
			}
		}
		out = append(out, u)
	}
	return out
}

// whole reports whether each request has one alternative, with the number of devices that it asks for.
func (o *oracle) whole(uses []use) bool {
	for c, claim := range o.claims {
		for r := range claim.Requests {
			var alternatives []int
			n := 0
			for _, u := range uses {
				if u.claim == c && u.request == r {
					n++
					if !slices.Contains(alternatives, u.alternative) {
						alternatives = append(alternatives, u.alternative)
					}
				}
			}
			if len(alternatives) != 1 {
				return false
			}
			if s := sub(&claim.Requests[r], alternatives[0]); s.AllocationMode != resourcev1.DeviceAllocationModeAll && int64(n) != s.Count {
				return false
			}
		}
	}
	return true
}
