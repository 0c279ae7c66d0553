package scheduling

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// noPrice marks what can't be bought. Prices are int64 nano-USD per hour inside the planner.
const noPrice = math.MaxInt64

const nanoPerUSD = 1e9

func nanoUSD(price float64) int64 { return int64(math.Round(price * nanoPerUSD)) }

// catalog is a list of instance types made ready for planning. The ways to buy a machine are a product: variants (what
// machine) x slots (where and how it is bought), with a price table over it. A requirement on a label is a bitset over
// one of the two, so that "which machines can still take this pod" is an AND of two small bitsets.
type catalog struct {
	// list is what the catalog was made from; types are the same by name, so that the order of the list plays no part.
	list, types []*cloudprovider.InstanceType
	variants    []variant
	slots       []slot
	// prices is indexed [variant*len(slots)+slot]; noPrice where there is no available offering.
	prices []int64
	// reservations says how many instances each has left: the least that any of its offerings claims.
	reservations map[string]int
	// offeringKeys are the labels that offerings state; for these a slot speaks, for all others the type.
	offeringKeys map[string]bool
	// typeKeys are the labels that some type states; true if some type leaves more than one value open.
	typeKeys map[string]bool
	// full is set of all variants, all slots.
	allVariants, allSlots bitset.Set
	// variantMasks and slotMasks remember which variants or slots meet a requirement, by its text. They grow while
	// the model is compiled; once frozen they are only read, since solves run side by side.
	variantMasks, slotMasks map[string]bitset.Set
	frozen                  bool
	// source names where the list prices are from.
	source string
	// costs made the prices; nil for list prices.
	costs *costTable
}

// variant is an instance type with one allocatable: offerings may override capacity or overhead.
type variant struct {
	typ         int // index into types
	capacity    corev1.ResourceList
	allocatable corev1.ResourceList
}

// slot is one distinct set of offering labels: a zone and a capacity type, perhaps a reservation.
type slot struct {
	labels       requirements.Set
	zone         string
	capacityType string
	// reservation names what a reserved slot draws on; empty for all others.
	reservation string
	// drawsOn are the labels that name the reservation.
	drawsOn requirements.Set
	// others are the labels beside zone and capacity type, as cloudprovider.OfferingKey spells them.
	others string
}

func compileCatalog(name string, types []*cloudprovider.InstanceType) (*catalog, error) {
	c := &catalog{
		source:       catalogSource(name),
		list:         types,
		types:        types,
		offeringKeys: map[string]bool{},
		typeKeys:     map[string]bool{},
		variantMasks: map[string]bitset.Set{},
		slotMasks:    map[string]bitset.Set{},
		reservations: map[string]int{},
	}
	if err := c.checkTypes(name); err != nil {
		return nil, err
	}
	byName := func(a, b *cloudprovider.InstanceType) int { return cmp.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(types, byName) {
		c.types = slices.SortedFunc(slices.Values(types), byName)
	}
	slots := c.collectSlots()
	for i, it := range c.types {
		c.addVariants(i, it, slots[:len(it.Offerings)])
		slots = slots[len(it.Offerings):]
		for r := range it.Requirements.All {
			if !c.offeringKeys[r.Key()] {
				c.typeKeys[r.Key()] = c.typeKeys[r.Key()] || !match.SingleValued(r)
			}
		}
	}
	c.allVariants, c.allSlots = bitset.Full(len(c.variants)), bitset.Full(len(c.slots))
	return c, nil
}

func catalogSource(name string) string { return fmt.Sprintf("catalog %q", name) }

func (c *catalog) checkTypes(name string) error {
	seen := make(map[string]bool, len(c.types))
	for i, it := range c.types {
		if it == nil {
			return &SnapshotError{Path: fmt.Sprintf("catalogs[%s][%d]", name, i), Rule: "is null", Cure: "leave it out"}
		}
		if it.Name == "" || seen[it.Name] {
			return &SnapshotError{Path: fmt.Sprintf("catalogs[%s][%d].name", name, i), Rule: fmt.Sprintf("is %q, which is empty or stands twice", it.Name), Cure: "names of instance types are unique"}
		}
		seen[it.Name] = true
		for j, o := range it.Offerings {
			if math.IsNaN(o.Price) || math.IsInf(o.Price, 0) || o.Price < 0 || o.Price > 1e9 {
				return &SnapshotError{Path: fmt.Sprintf("catalogs[%s][%s].offerings[%d].price", name, it.Name, j), Rule: fmt.Sprintf("is %v", o.Price), Cure: "a price is finite, >= 0 and <= 1e9 USD per hour"}
			}
		}
	}
	return nil
}

// collectSlots numbers the distinct offering label sets, by zone and then in the order of their text, and returns the
// number of each offering's, type by type.
func (c *catalog) collectSlots() []int32 {
	byText := map[string]int32{}
	var texts []string
	var sets []requirements.Set
	offerings := 0
	for _, it := range c.types {
		offerings += len(it.Offerings)
	}
	slotOf := make([]int32, 0, offerings)
	// Types mostly list their offerings in one order: after is the slot that followed each when it last came up, a guess
	// that saves spelling labels out.
	var after []int32
	last := int32(-1)
	next := func(n int32) {
		if last >= 0 {
			after[last] = n
		}
		last = n
		slotOf = append(slotOf, n)
	}
	for _, it := range c.types {
		for i := range it.Offerings {
			labels := it.Offerings[i].Requirements
			if last >= 0 && after[last] >= 0 && labels.Equal(sets[after[last]]) {
				next(after[last])
				continue
			}
			text := labels.String()
			n, ok := byText[text]
			if !ok {
				n = int32(len(texts))
				byText[text] = n
				texts, sets, after = append(texts, text), append(sets, labels), append(after, -1)
				for _, key := range labels.Keys() {
					c.offeringKeys[key] = true
				}
			}
			next(n)
		}
	}
	order := make([]int32, len(texts))
	zones := make([]string, len(texts))
	for i := range order {
		order[i], zones[i] = int32(i), match.OnlyValue(sets[i].Get(corev1.LabelTopologyZone))
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(zones[a], zones[b]), cmp.Compare(texts[a], texts[b])) })
	number := make([]int32, len(texts))
	for at, n := range order {
		number[n] = int32(at)
		c.slots = append(c.slots, newSlot(sets[n]))
	}
	for i, n := range slotOf {
		slotOf[i] = number[n]
	}
	return slotOf
}

func newSlot(labels requirements.Set) slot {
	of := cloudprovider.Offering{Requirements: labels}
	s := slot{
		others:       cloudprovider.KeyOf(&cloudprovider.InstanceType{}, &of).Others,
		labels:       labels,
		zone:         match.OnlyValue(labels.Get(corev1.LabelTopologyZone)),
		capacityType: match.OnlyValue(labels.Get(labelCapacityType)),
	}
	if s.capacityType == capacityTypeReserved {
		// What a reserved offering states beside zone and capacity type names its reservation.
		s.drawsOn = labels.Without(corev1.LabelTopologyZone, labelZoneID, corev1.LabelTopologyRegion, labelCapacityType)
		s.reservation = s.drawsOn.String()
		if s.reservation == "" {
			s.reservation = labels.String()
		}
	}
	return s
}

// addVariants splits the type by the overrides of its offerings, of which slotOf are the slots; offerings without
// overrides come first.
func (c *catalog) addVariants(typ int, it *cloudprovider.InstanceType, slotOf []int32) {
	numbers := map[string]int{}
	variantOf := func(o *cloudprovider.Offering) int {
		text := ""
		if o != nil {
			text = overrideText(o)
		}
		if n, ok := numbers[text]; ok {
			return n
		}
		n := len(c.variants)
		numbers[text] = n
		v := variant{typ: typ, capacity: it.Capacity}
		if text == "" {
			v.allocatable = it.Allocatable()
		} else {
			v.capacity, v.allocatable = it.CapacityOf(o), it.AllocatableOf(o)
		}
		c.variants = append(c.variants, v)
		for range c.slots {
			c.prices = append(c.prices, noPrice)
		}
		return n
	}
	variantOf(nil)
	overriding := slices.DeleteFunc(slices.Clone(it.Offerings), func(o cloudprovider.Offering) bool { return !o.Available || overrideText(&o) == "" })
	slices.SortFunc(overriding, func(a, b cloudprovider.Offering) int { return cmp.Compare(overrideText(&a), overrideText(&b)) })
	for i := range overriding {
		variantOf(&overriding[i])
	}
	for i := range it.Offerings {
		o := &it.Offerings[i]
		if !o.Available {
			continue
		}
		slot := int(slotOf[i])
		if id := c.slots[slot].reservation; id != "" {
			if left, ok := c.reservations[id]; !ok || o.ReservationCapacity < left {
				c.reservations[id] = o.ReservationCapacity
			}
		}
		at := variantOf(o)*len(c.slots) + slot
		c.prices[at] = min(c.prices[at], nanoUSD(o.Price))
	}
}

func overrideText(o *cloudprovider.Offering) string {
	if len(o.Capacity) == 0 && o.Overhead == nil {
		return ""
	}
	var b strings.Builder
	write := func(list corev1.ResourceList) {
		for _, name := range resources.Sorted(list) {
			q := list[name]
			fmt.Fprintf(&b, "%s=%s,", name, q.String())
		}
		b.WriteByte(';')
	}
	write(o.Capacity)
	if o.Overhead != nil {
		write(o.Overhead.KubeReserved)
		write(o.Overhead.SystemReserved)
		write(o.Overhead.EvictionThreshold)
	}
	return b.String()
}

func (c *catalog) price(variant, slot int) int64 { return c.prices[variant*len(c.slots)+slot] }

// pricesOf are the variant's prices by slot.
func (c *catalog) pricesOf(variant int) []int64 {
	return c.prices[variant*len(c.slots):][:len(c.slots)]
}

// variantMask is the set of variants whose type may carry a label that meets r. A key the type does not state is
// absent from the node. The caller must not change the result.
func (c *catalog) variantMask(r requirements.Requirement) bitset.Set {
	text := r.String()
	if m, ok := c.variantMasks[text]; ok {
		return m
	}
	m := bitset.New(len(c.variants))
	for i := range c.variants {
		if match.Meets(c.types[c.variants[i].typ].Requirements, r) {
			m.Add(i)
		}
	}
	if !c.frozen {
		c.variantMasks[text] = m
	}
	return m
}

// slotMask is the set of slots whose labels meet r. The caller must not change the result.
func (c *catalog) slotMask(r requirements.Requirement) bitset.Set {
	text := r.String()
	if m, ok := c.slotMasks[text]; ok {
		return m
	}
	m := bitset.New(len(c.slots))
	for i := range c.slots {
		if match.Meets(c.slots[i].labels, r) {
			m.Add(i)
		}
	}
	if !c.frozen {
		c.slotMasks[text] = m
	}
	return m
}
