package planvalidator

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
)

// maxDeviceSteps is the largest number of devices that are tried for one node. If the search needs more, the node's devices are not
// checked.
const maxDeviceSteps = 200_000

// deviceHost has the devices of a node, and the remaining amounts of their capacities and counters.
type deviceHost struct {
	devices  []*hostDevice
	counters map[string]resource.Quantity
	// slices is the number of published ResourceSlices.
	slices int
}

type hostDevice struct {
	of           *deviceHost
	slice        int
	driver, pool string
	object       *resourcev1.Device
	// says is a text that describes the device without its name.
	says string
	uses int
	// left is the remaining amount of each capacity of a device that several claims may share.
	left map[resourcev1.QualifiedName]resource.Quantity
}

// alike reports whether two devices are interchangeable: they have equal descriptions, the same counters and equal remaining amounts.
func (d *hostDevice) alike(o *hostDevice) bool {
	return d.of == o.of && d.slice == o.slice && d.uses == o.uses && d.says == o.says && (d.uses == 0 || equality.Semantic.DeepEqual(d.left, o.left))
}

func newDeviceHost() *deviceHost { return &deviceHost{counters: map[string]resource.Quantity{}} }

func (h *deviceHost) publish(driver, pool string, list []resourcev1.Device, sets []resourcev1.CounterSet) {
	h.slices++
	for i := range sets {
		for name, counter := range sets[i].Counters {
			h.counters[strings.Join([]string{driver, pool, sets[i].Name, name}, "/")] = counter.Value
		}
	}
	for i := range list {
		d := &hostDevice{of: h, slice: h.slices, driver: driver, pool: pool, object: &list[i], left: map[resourcev1.QualifiedName]resource.Quantity{}}
		nameless := list[i]
		nameless.Name = ""
		d.says = nameless.String()
		for name, capacity := range list[i].Capacity {
			d.left[name] = capacity.Value
		}
		h.devices = append(h.devices, d)
	}
}

// hold subtracts the devices, or parts of devices, that the given allocation results contain.
func (h *deviceHost) hold(list []resourcev1.DeviceRequestAllocationResult) {
	for i := range list {
		for _, d := range h.devices {
			if r := &list[i]; d.driver == r.Driver && d.pool == r.Pool && d.object.Name == r.Device && (r.AdminAccess == nil || !*r.AdminAccess) {
				h.take(d, r.ConsumedCapacity, 1)
			}
		}
	}
}

// take allocates the device, with these amounts of its capacities. If sign is -1, it releases them.
func (h *deviceHost) take(d *hostDevice, amounts map[resourcev1.QualifiedName]resource.Quantity, sign int) {
	if first := d.uses == 0 && sign > 0 || d.uses == 1 && sign < 0; first {
		for _, draws := range d.object.ConsumesCounters {
			for name, counter := range draws.Counters {
				key := strings.Join([]string{d.driver, d.pool, draws.CounterSet, name}, "/")
				h.counters[key] = changed(h.counters[key], counter.Value, sign)
			}
		}
	}
	d.uses += sign
	for name, q := range amounts {
		d.left[name] = changed(d.left[name], q, sign)
	}
}

func changed(have, by resource.Quantity, sign int) resource.Quantity {
	out := have.DeepCopy()
	if sign > 0 {
		out.Sub(by)
	} else {
		out.Add(by)
	}
	return out
}

// over reports whether the allocations exceed what the device allows: its number of uses, its shared capacities or its counters.
func (h *deviceHost) over(d *hostDevice) bool {
	if d.object.AllowMultipleAllocations == nil || !*d.object.AllowMultipleAllocations {
		if d.uses > 1 {
			return true
		}
	} else {
		for _, q := range d.left {
			if q.Sign() < 0 {
				return true
			}
		}
	}
	for _, draws := range d.object.ConsumesCounters {
		for name := range draws.Counters {
			if q := h.counters[strings.Join([]string{d.driver, d.pool, draws.CounterSet, name}, "/")]; q.Sign() < 0 {
				return true
			}
		}
	}
	return false
}

// deviceTrial tries to allocate devices to claims, for one request after another.
type deviceTrial struct {
	c      *deviceChecker
	claims []hostedClaim
	// got are the devices that the present claim has got so far, with the names of their requests.
	got   []gotDevice
	steps *int
}

// hostedClaim is a claim, and the devices that the node of its pods can use.
type hostedClaim struct {
	spec    *resourcev1.DeviceClaim
	devices []*hostDevice
}

type gotDevice struct {
	d             *hostDevice
	request, full string
}

func (t *deviceTrial) claim(at int) bool { return at == len(t.claims) || t.request(at, 0) }

func (t *deviceTrial) request(claim, at int) bool {
	spec := t.claims[claim].spec
	if at == len(spec.Requests) {
		if len(t.got) > resourcev1.AllocationResultsMaxSize || !t.keepsConstraints(spec) {
			return false
		}
		mine := t.got
		t.got = nil
		done := t.claim(claim + 1)
		t.got = mine
		return done
	}
	r := &spec.Requests[at]
	if e := r.Exactly; e != nil {
		sub := &resourcev1.DeviceSubRequest{DeviceClassName: e.DeviceClassName, Selectors: e.Selectors, AllocationMode: e.AllocationMode, Count: e.Count, Tolerations: e.Tolerations, Capacity: e.Capacity}
		if e.AdminAccess != nil && *e.AdminAccess {
			return t.request(claim, at+1) // needs no device
		}
		return t.meet(claim, at, sub, r.Name)
	}
	for i := range r.FirstAvailable {
		if t.meet(claim, at, &r.FirstAvailable[i], r.Name+"/"+r.FirstAvailable[i].Name) {
			return true
		}
	}
	return false
}

// meet tries to allocate devices for one alternative of a request.
func (t *deviceTrial) meet(claim, at int, sub *resourcev1.DeviceSubRequest, full string) bool {
	var about []*hostDevice
	for _, d := range t.claims[claim].devices {
		if t.c.matches(sub, d) {
			about = append(about, d)
		}
	}
	name := t.claims[claim].spec.Requests[at].Name
	if sub.AllocationMode == resourcev1.DeviceAllocationModeAll {
		if len(about) == 0 || slices.ContainsFunc(about, func(d *hostDevice) bool { return !tolerates(sub, d.object) }) {
			return false
		}
		return t.choose(claim, at, sub, about, len(about), gotDevice{request: name, full: full})
	}
	about = slices.DeleteFunc(about, func(d *hostDevice) bool { return !tolerates(sub, d.object) })
	return t.choose(claim, at, sub, about, int(max(sub.Count, 1)), gotDevice{request: name, full: full})
}

// choose allocates left devices of the given list. It tries all combinations. For each combination, it continues with the next request.
func (t *deviceTrial) choose(claim, at int, sub *resourcev1.DeviceSubRequest, of []*hostDevice, left int, as gotDevice) bool {
	if left == 0 {
		return t.request(claim, at+1)
	}
	for i := 0; i+left <= len(of); i++ {
		if *t.steps--; *t.steps <= 0 {
			return false
		}
		d := of[i]
		if slices.ContainsFunc(of[:i], d.alike) {
			continue // an interchangeable device led to no solution, so this device would not either
		}
		amounts := map[resourcev1.QualifiedName]resource.Quantity{}
		for name, capacity := range d.object.Capacity {
			amounts[name] = capacity.Value
			if sub.Capacity != nil {
				if q, asked := sub.Capacity.Requests[name]; asked {
					amounts[name] = q
				}
			}
		}
		d.of.take(d, amounts, 1)
		as.d = d
		t.got = append(t.got, as)
		done := !d.of.over(d) && t.choose(claim, at, sub, of[i+1:], left-1, as)
		t.got = t.got[:len(t.got)-1]
		d.of.take(d, amounts, -1)
		if done {
			return true
		}
	}
	return false
}

// keepsConstraints reports whether the claim's devices meet its constraints, which require equal or different attributes.
func (t *deviceTrial) keepsConstraints(spec *resourcev1.DeviceClaim) bool {
	for i := range spec.Constraints {
		k := &spec.Constraints[i]
		name := k.MatchAttribute
		if name == nil {
			name = k.DistinctAttribute
		}
		values, n := map[string]bool{}, 0
		for _, g := range t.got {
			if len(k.Requests) > 0 && !slices.Contains(k.Requests, g.request) && !slices.Contains(k.Requests, g.full) {
				continue
			}
			a, ok := g.d.object.Attributes[resourcev1.QualifiedName(*name)]
			if domain, short, _ := strings.Cut(string(*name), "/"); !ok && domain == g.d.driver {
				a, ok = g.d.object.Attributes[resourcev1.QualifiedName(short)]
			}
			if !ok {
				return false
			}
			values[a.String()] = true
			n++
		}
		if k.MatchAttribute != nil && len(values) > 1 || k.MatchAttribute == nil && len(values) < n {
			return false
		}
	}
	return true
}
