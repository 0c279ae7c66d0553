package market

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// NoPrice is the price of an offering that can't be bought. Prices are int64 nano-USD per hour inside the planner.
const NoPrice = math.MaxInt64

// NanoPerUSD is the number of nano-USD in a USD.
const NanoPerUSD = 1e9

// MaxPrice is the highest possible price, in USD per hour.
const MaxPrice = planning.MaxPrice

// zoneIDLabel is the label with the ID of a zone, which is the same in all accounts.
const zoneIDLabel = "topology.k8s.aws/zone-id"

// NanoUSD converts a price in USD to nano-USD.
func NanoUSD(price float64) int64 { return int64(math.Round(price * NanoPerUSD)) }

// Catalog is a list of instance types, prepared for planning. Everything that can be bought is a product of two sets: variants (what kind
// of node) x slots (where and how it is bought). A table has the price of each pair. The variants or slots that meet a label requirement
// are a bitset, so the nodes that can take a pod are found with an AND of small bitsets.
type Catalog struct {
	// List is the list from which the catalog was made. Types has the same types sorted by name, so the order of the list does not matter.
	List, Types []*cloudprovider.InstanceType
	Variants    []Variant
	Slots       []Slot
	// prices is indexed by variant*len(slots)+slot. An entry is NoPrice if there is no available offering.
	prices []int64
	// Reservations has the number of instances left in each reservation: the lowest number that one of the reservation's offerings states.
	Reservations map[string]int
	// OfferingKeys are the labels that offerings state. A node gets these labels from its slot and all other labels from its type.
	OfferingKeys map[string]bool
	// TypeKeys are the labels that some type states. The value is true if some type allows several values.
	TypeKeys map[string]bool
	// DeviceLabels are the labels to which attributes of devices are bound, sorted; usually there are none.
	DeviceLabels []string
	// AllVariants and AllSlots are the sets of all variants and of all slots.
	AllVariants, AllSlots bitset.Set
	// variantMasks and slotMasks cache the variants or slots that meet a requirement, by the requirement's text. The caches grow while the
	// model is compiled. After Freeze they don't change, because several goroutines read them.
	variantMasks, slotMasks map[string]bitset.Set
	frozen                  bool
	// Source says where the list prices come from.
	Source string
	// costs has the cost terms of the prices. It is nil if the prices are list prices.
	costs *costTable
}

// Variant is an instance type with one allocatable and one set of devices. A type can have several variants, because offerings may override
// capacity or overhead, and attributes of devices may be bound to labels of offerings.
type Variant struct {
	Type        int // index into types
	Capacity    corev1.ResourceList
	Allocatable corev1.ResourceList
	// Override is the OverrideText of the variant's offerings. Bound is their BoundText.
	Override, Bound string
	// Offering is one of the variant's offerings. It is nil if the capacity is the type's own and no attributes are bound.
	Offering *cloudprovider.Offering
}

// Slot is one distinct set of offering labels: a zone, a capacity type and sometimes a reservation.
type Slot struct {
	Labels       requirements.Set
	Zone         string
	CapacityType string
	// Reservation is the name of the reservation that a reserved slot uses. It is empty for all other slots.
	Reservation string
	// DrawsOn has the labels that name the reservation.
	DrawsOn requirements.Set
	// Others has the labels other than zone and capacity type, in the form of cloudprovider.OfferingKey.
	Others string
}

// NewCatalog makes a catalog from a list of types, whose names must be unique and whose prices must be finite.
func NewCatalog(name string, types []*cloudprovider.InstanceType) *Catalog {
	c := &Catalog{
		Source:       catalogSource(name),
		List:         types,
		Types:        types,
		OfferingKeys: map[string]bool{},
		TypeKeys:     map[string]bool{},
		variantMasks: map[string]bitset.Set{},
		slotMasks:    map[string]bitset.Set{},
		Reservations: map[string]int{},
	}
	byName := func(a, b *cloudprovider.InstanceType) int { return cmp.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(types, byName) {
		c.Types = slices.SortedFunc(slices.Values(types), byName)
	}
	slots := c.collectSlots()
	for i, it := range c.Types {
		c.addVariants(i, it, slots[:len(it.Offerings)])
		slots = slots[len(it.Offerings):]
		c.DeviceLabels = append(c.DeviceLabels, it.DeviceLabels()...)
		for r := range it.Requirements.All {
			if !c.OfferingKeys[r.Key()] {
				c.TypeKeys[r.Key()] = c.TypeKeys[r.Key()] || !match.SingleValued(r)
			}
		}
	}
	slices.Sort(c.DeviceLabels)
	c.DeviceLabels = slices.Compact(c.DeviceLabels)
	c.AllVariants, c.AllSlots = bitset.Full(len(c.Variants)), bitset.Full(len(c.Slots))
	return c
}

func catalogSource(name string) string { return fmt.Sprintf("catalog %q", name) }

// collectSlots numbers the distinct label sets of offerings, first by zone and then by their text. It returns the slot of each offering,
// type by type.
func (c *Catalog) collectSlots() []int32 {
	byText := map[string]int32{}
	var texts []string
	var sets []requirements.Set
	offerings := 0
	for _, it := range c.Types {
		offerings += len(it.Offerings)
	}
	slotOf := make([]int32, 0, offerings)
	// Types usually list their offerings in the same order. after has, for each slot, the slot that last followed it in such a list. If the
	// next offering has the labels of that slot, as is usual, its labels need not be written as text.
	var after []int32
	last := int32(-1)
	next := func(n int32) {
		if last >= 0 {
			after[last] = n
		}
		last = n
		slotOf = append(slotOf, n)
	}
	for _, it := range c.Types {
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
					c.OfferingKeys[key] = true
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
		c.Slots = append(c.Slots, newSlot(sets[n]))
	}
	for i, n := range slotOf {
		slotOf[i] = number[n]
	}
	return slotOf
}

func newSlot(labels requirements.Set) Slot {
	of := cloudprovider.Offering{Requirements: labels}
	s := Slot{
		Others:       cloudprovider.KeyOf(&cloudprovider.InstanceType{}, &of).Others,
		Labels:       labels,
		Zone:         match.OnlyValue(labels.Get(corev1.LabelTopologyZone)),
		CapacityType: match.OnlyValue(labels.Get(v1.CapacityTypeLabelKey)),
	}
	if s.CapacityType == v1.CapacityTypeReserved {
		// All labels of a reserved offering other than zone and capacity type name its reservation.
		s.DrawsOn = labels.Without(corev1.LabelTopologyZone, zoneIDLabel, corev1.LabelTopologyRegion, v1.CapacityTypeLabelKey)
		s.Reservation = s.DrawsOn.String()
		if s.Reservation == "" {
			s.Reservation = labels.String()
		}
	}
	return s
}

// addVariants divides the type into variants by the overrides of its offerings, and by the labels to which attributes of its devices are
// bound. slotOf has the slots of the offerings. The variant for offerings without overrides and bound attributes comes first.
func (c *Catalog) addVariants(typ int, it *cloudprovider.InstanceType, slotOf []int32) {
	numbers := map[[2]string]int{}
	labels := it.DeviceLabels()
	textOf := func(o *cloudprovider.Offering) [2]string { return [2]string{OverrideText(o), boundText(it, o, labels)} }
	variantOf := func(o *cloudprovider.Offering) int {
		text := [2]string{}
		if o != nil {
			text = textOf(o)
		}
		if n, ok := numbers[text]; ok {
			return n
		}
		n := len(c.Variants)
		numbers[text] = n
		v := Variant{Type: typ, Capacity: it.Capacity, Override: text[0], Bound: text[1]}
		if text != [2]string{} {
			v.Offering = o
		}
		if text[0] == "" {
			v.Allocatable = it.Allocatable()
		} else {
			v.Capacity, v.Allocatable = it.CapacityOf(o), it.AllocatableOf(o)
		}
		c.Variants = append(c.Variants, v)
		for range c.Slots {
			c.prices = append(c.prices, NoPrice)
		}
		return n
	}
	variantOf(nil)
	var differing []*cloudprovider.Offering
	for i := range it.Offerings {
		o := &it.Offerings[i]
		if override := OverrideText(o); override != "" && o.Available || override == "" && len(labels) > 0 {
			differing = append(differing, o)
		}
	}
	slices.SortStableFunc(differing, func(a, b *cloudprovider.Offering) int {
		x, y := textOf(a), textOf(b)
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	for _, o := range differing {
		variantOf(o)
	}
	for i := range it.Offerings {
		o := &it.Offerings[i]
		if !o.Available {
			continue
		}
		slot := int(slotOf[i])
		if id := c.Slots[slot].Reservation; id != "" {
			if left, ok := c.Reservations[id]; !ok || o.ReservationCapacity < left {
				c.Reservations[id] = o.ReservationCapacity
			}
		}
		at := variantOf(o)*len(c.Slots) + slot
		c.prices[at] = min(c.prices[at], NanoUSD(o.Price))
	}
}

// OverrideText returns a text that is equal only for offerings with the same overrides of capacity and overhead. It is "" for offerings
// without overrides.
func OverrideText(o *cloudprovider.Offering) string {
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

// BoundText returns a text that is equal only for offerings of the type with the same values of bound device attributes. It is "" if no
// attribute is bound.
func BoundText(it *cloudprovider.InstanceType, o *cloudprovider.Offering) string {
	return boundText(it, o, it.DeviceLabels())
}

// boundText does the same as BoundText, for the given labels of the type's devices.
func boundText(it *cloudprovider.InstanceType, o *cloudprovider.Offering, labels []string) string {
	var b strings.Builder
	for i, key := range labels {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(key + "=" + it.LabelOf(o, key))
	}
	return b.String()
}

// Price returns the price of a variant in a slot, or NoPrice if it can't be bought.
func (c *Catalog) Price(variant, slot int) int64 { return c.prices[variant*len(c.Slots)+slot] }

// HasCosts reports whether cost terms apply to the prices.
func (c *Catalog) HasCosts() bool { return c.costs != nil }

// PricesOf returns the variant's prices by slot.
func (c *Catalog) PricesOf(variant int) []int64 {
	return c.prices[variant*len(c.Slots):][:len(c.Slots)]
}

// VariantMask returns the set of variants whose labels may meet r. If the type does not state a key, the node does not have the label.
// The caller must not change the result.
func (c *Catalog) VariantMask(r requirements.Requirement) bitset.Set {
	text := r.String()
	if m, ok := c.variantMasks[text]; ok {
		return m
	}
	m := bitset.New(len(c.Variants))
	for i := range c.Variants {
		if match.Meets(c.Types[c.Variants[i].Type].Requirements, r) {
			m.Add(i)
		}
	}
	if !c.frozen {
		c.variantMasks[text] = m
	}
	return m
}

// SlotMask returns the set of slots whose labels meet r. The caller must not change the result.
func (c *Catalog) SlotMask(r requirements.Requirement) bitset.Set {
	text := r.String()
	if m, ok := c.slotMasks[text]; ok {
		return m
	}
	m := bitset.New(len(c.Slots))
	for i := range c.Slots {
		if match.Meets(c.Slots[i].Labels, r) {
			m.Add(i)
		}
	}
	if !c.frozen {
		c.slotMasks[text] = m
	}
	return m
}

// Cheapest returns the variant's cheapest slot that is in both sets; of equal slots it returns the first. slot is -1 if no slot is in both
// sets.
func (c *Catalog) Cheapest(variant int, a, b bitset.Set) (slot int, price int64) {
	slot, price = -1, NoPrice
	prices := c.PricesOf(variant)
	for i, w := range a {
		for w &= b[i]; w != 0; w &= w - 1 {
			if s := i<<6 + bits.TrailingZeros64(w); prices[s] < price {
				slot, price = s, prices[s]
			}
		}
	}
	return slot, price
}

// Renamed returns a copy of the catalog with another name and a separate cache, for a model in which the catalog has that name.
func (c *Catalog) Renamed(name string) *Catalog {
	own := *c
	own.Source = catalogSource(name)
	own.variantMasks, own.slotMasks, own.frozen = map[string]bitset.Set{}, map[string]bitset.Set{}, false
	return &own
}

// Freeze ends caching: after it, any number of goroutines may read the catalog.
func (c *Catalog) Freeze() {
	if !c.frozen { // a frozen catalog must not be written to, because other goroutines may read it
		c.frozen = true
	}
}

// AttachLimit returns a function that returns how many volumes of a driver nodes of the instance type can attach. The function returns
// false if there is no limit.
func AttachLimit(it *cloudprovider.InstanceType) func(string) (int64, bool) {
	return func(driver string) (int64, bool) {
		n, ok := it.VolumeLimits[driver]
		return int64(n), ok
	}
}
