package devices

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ID identifies a device. It is unique in a cluster.
type ID struct{ Driver, Pool, Device string }

// String is driver/pool/device.
func (id ID) String() string { return id.Driver + "/" + id.Pool + "/" + id.Device }

// Inventory contains the devices that ResourceSlices publish, prepared for allocation. It never changes.
type Inventory struct {
	pools   []pool
	devices []device
	index   map[ID]int32
	// counters has the amounts of the counters of all pools, by counter number.
	counters []int64
	// shapes is the number of different devices, counting devices that selectors can't distinguish only once.
	shapes int
}

// pool is the newest generation of one device pool of one driver.
type pool struct {
	driver, name string
	// incomplete means that ResourceSlices of the pool are missing. No device of an incomplete pool can be allocated.
	incomplete bool
	// invalid says what is wrong with the pool, or is empty. No device of an invalid pool can be allocated.
	invalid string
	// slices are the ResourceSlices of the newest generation, sorted by name.
	slices []*resourcev1.ResourceSlice
	// late means that devices of the pool have binding conditions, which a pod must wait for before it is bound. Pools without binding
	// conditions are tried first.
	late bool
}

// device is one device of a device pool that is valid and complete.
type device struct {
	id     ID
	pool   int32
	shape  int32
	object *resourcev1.Device
	where  where
	// shared means that several claims can use the device, up to its capacity.
	shared   bool
	consumes []draw
	// capacity is sorted by name.
	capacity []capacity
}

// draw is the amount of one counter that a device uses when it is allocated.
type draw struct {
	counter int32
	amount  int64
}

// where says which nodes can use a device.
type where struct {
	all      bool
	node     string
	selector *corev1.NodeSelector
}

// NewInventory makes an inventory of ResourceSlices. The order of the list does not matter. ResourceSlices of older generations of a pool
// are ignored.
func NewInventory(list []*resourcev1.ResourceSlice) *Inventory {
	inv := &Inventory{index: map[ID]int32{}, pools: gather(list)}
	texts := map[string]int32{}
	for at := range inv.pools {
		p := &inv.pools[at]
		if p.incomplete || p.invalid != "" {
			continue
		}
		counters := inv.addCounters(p)
		for _, s := range p.slices {
			for i := range s.Spec.Devices {
				inv.add(int32(at), s, &s.Spec.Devices[i], counters, texts)
			}
		}
	}
	inv.shapes = len(texts)
	return inv
}

// gather returns the pools with their newest ResourceSlices, in the order in which the search tries their devices.
func gather(list []*resourcev1.ResourceSlice) []pool {
	type key struct{ driver, name string }
	index := map[key]int{}
	var pools []pool
	for _, s := range list {
		k := key{s.Spec.Driver, s.Spec.Pool.Name}
		at, ok := index[k]
		if !ok {
			at = len(pools)
			index[k] = at
			pools = append(pools, pool{driver: k.driver, name: k.name})
		}
		p := &pools[at]
		if len(p.slices) > 0 {
			switch newest := p.slices[0].Spec.Pool.Generation; {
			case s.Spec.Pool.Generation < newest:
				continue
			case s.Spec.Pool.Generation > newest:
				p.slices = nil
			}
		}
		p.slices = append(p.slices, s)
	}
	for i := range pools {
		pools[i].check()
	}
	slices.SortFunc(pools, func(a, b pool) int {
		if a.late != b.late {
			if a.late {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.name, b.name))
	})
	return pools
}

// check sets the fields incomplete and invalid of the pool.
func (p *pool) check() {
	slices.SortFunc(p.slices, func(a, b *resourcev1.ResourceSlice) int { return cmp.Compare(a.Name, b.Name) })
	p.incomplete = int64(len(p.slices)) != p.slices[0].Spec.Pool.ResourceSliceCount
	names, sets := map[string]bool{}, map[string]*resourcev1.CounterSet{}
	for _, s := range p.slices {
		for i := range s.Spec.SharedCounters {
			set := &s.Spec.SharedCounters[i]
			if sets[set.Name] != nil {
				p.invalid = fmt.Sprintf("has the counter set %s twice", set.Name)
				return
			}
			sets[set.Name] = set
		}
	}
	for _, s := range p.slices {
		for i := range s.Spec.Devices {
			d := &s.Spec.Devices[i]
			if names[d.Name] {
				p.invalid = fmt.Sprintf("has the device %s twice", d.Name)
				return
			}
			names[d.Name] = true
			p.late = p.late || len(d.BindingConditions) > 0
			if p.invalid = wrongCounters(d, sets); p.invalid != "" {
				return
			}
		}
	}
}

// wrongCounters returns a text about a counter that the device consumes but that is missing in the pool, or "" if no counter is missing.
func wrongCounters(d *resourcev1.Device, sets map[string]*resourcev1.CounterSet) string {
	for _, c := range d.ConsumesCounters {
		set := sets[c.CounterSet]
		if set == nil {
			return fmt.Sprintf("has no counter set %s, which the device %s consumes", c.CounterSet, d.Name)
		}
		for _, name := range sortedKeys(c.Counters) {
			if _, ok := set.Counters[name]; !ok {
				return fmt.Sprintf("has no counter %s in the set %s, which the device %s consumes", name, c.CounterSet, d.Name)
			}
		}
	}
	return ""
}

// addCounters gives each of the pool's counters a number, and returns the numbers by counter set and counter name.
func (inv *Inventory) addCounters(p *pool) map[[2]string]int32 {
	places := map[[2]string]int32{}
	for _, s := range p.slices {
		for i := range s.Spec.SharedCounters {
			set := &s.Spec.SharedCounters[i]
			for _, name := range sortedKeys(set.Counters) {
				places[[2]string{set.Name, name}] = int32(len(inv.counters))
				inv.counters = append(inv.counters, down(set.Counters[name].Value))
			}
		}
	}
	return places
}

// add adds a device of a ResourceSlice to the inventory.
func (inv *Inventory) add(at int32, s *resourcev1.ResourceSlice, object *resourcev1.Device, counters map[[2]string]int32, texts map[string]int32) {
	d := device{id: ID{s.Spec.Driver, s.Spec.Pool.Name, object.Name}, pool: at, object: object, where: whereOf(s, object), shared: is(object.AllowMultipleAllocations)}
	text := shapeText(s.Spec.Driver, object)
	shape, ok := texts[text]
	if !ok {
		shape = int32(len(texts))
		texts[text] = shape
	}
	d.shape = shape
	drawn := map[int32]int64{}
	for _, c := range object.ConsumesCounters {
		for name, counter := range c.Counters {
			drawn[counters[[2]string{c.CounterSet, name}]] += up(counter.Value)
		}
	}
	for _, counter := range sortedKeys(drawn) {
		d.consumes = append(d.consumes, draw{counter, drawn[counter]})
	}
	d.capacity = capacitiesOf(object)
	inv.index[d.id] = int32(len(inv.devices))
	inv.devices = append(inv.devices, d)
}

func whereOf(s *resourcev1.ResourceSlice, d *resourcev1.Device) where {
	if is(s.Spec.PerDeviceNodeSelection) {
		return where{is(d.AllNodes), text(d.NodeName), d.NodeSelector}
	}
	return where{is(s.Spec.AllNodes), text(s.Spec.NodeName), s.Spec.NodeSelector}
}

// shapeText returns, as text, all properties of a device that selectors can see.
func shapeText(driver string, d *resourcev1.Device) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %t", driver, is(d.AllowMultipleAllocations))
	for _, name := range sortedKeys(d.Attributes) {
		fmt.Fprintf(&b, " %q=%v", name, valueOf(d.Attributes[name]))
	}
	for _, name := range sortedKeys(d.Capacity) {
		q := d.Capacity[name].Value
		fmt.Fprintf(&b, " %q:%s", name, q.String())
	}
	return b.String()
}

// Len returns the number of devices that can be allocated when nothing is allocated yet.
func (inv *Inventory) Len() int { return len(inv.devices) }

// ID returns the ID of the device with index at, which must be less than Len.
func (inv *Inventory) ID(at int) ID { return inv.devices[at].id }

// Problems returns a sorted list of texts. Each text names a pool whose devices can't be allocated, and the reason.
func (inv *Inventory) Problems() []string {
	var out []string
	for i := range inv.pools {
		if problem := inv.pools[i].problem(); problem != "" {
			out = append(out, problem)
		}
	}
	return out
}

func (p *pool) problem() string {
	switch {
	case p.invalid != "":
		return fmt.Sprintf("pool %s of %s %s", p.name, p.driver, p.invalid)
	case p.incomplete:
		return fmt.Sprintf("pool %s of %s has %d slices of %d: it is being updated", p.name, p.driver, len(p.slices), p.slices[0].Spec.Pool.ResourceSliceCount)
	}
	return ""
}

func is(b *bool) bool { return b != nil && *b }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
