package pricing

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Problem is the packing of pods onto new nodes as plain numbers: items (classes with a count) and options (nodes with a price). All orders
// in it are total, so that equal problems have equal solutions.
type Problem struct {
	// Dims is the number of dimensions of needs and rooms: resources first, then amounts that represent rules.
	Dims, Resources int
	Items           []Item
	// Options lists the options to consider: no other option is at least as large, at most as expensive, and open to the same items. Sorted
	// by price.
	Options []Option
	// Dominated lists the options left out, each with the index of an option that dominates it.
	Dominated []Dominated
	// Celled problems have items that differ only in their cell.
	Celled bool
	// Rough problems need values that steer a search, not values that prove a bound.
	Rough bool
	// Planned is the cost of the plan whose bound is computed, 0 before there is a plan.
	Planned float64
	// Reserved names the reservation that each limited option uses, and left says how many instances each reservation still has.
	Reserved map[int32]string
	Left     map[string]int
	// Committed are nodes that commitments cover, at the covered price; CommitmentLeft is what each commitment has left for new nodes. Nil
	// without commitments.
	Committed      []Option
	CommitmentLeft []int64
	// Pressing is the least number of nodes that the items need because of each rule about single nodes that is expressed as an amount.
	// These rules are the last dimensions, those that require most nodes first.
	Pressing []int64
	// Seeds are fillings from a known packing.
	Seeds []Seed
}

// reservation returns the name of the reservation that a limited option uses.
func (p *Problem) reservation(o int) string { return p.Reserved[int32(o)] }

// Unbounded is the PerNode of items whose number on one node is bounded only by resources.
const Unbounded = math.MaxInt

// Item is a class of pods that need new nodes.
type Item struct {
	Class int32
	// where the class may be placed; items of one place may use the same options
	Place
	Count int
	Need  []int64
	// Topology says which rules about pods concern the class, nil for none.
	Topology *topology.Groups
	// PerNode bounds how many of the class one new node may hold; Unbounded for no bound.
	PerNode int
	// Ruled items have rules about single nodes that neither PerNode nor caps express.
	Ruled bool
}

// Place is a stage, and the cell that topology rules assign to the pods, or AnyCell.
type Place struct {
	Stage, Cell int32
	// Rules narrow the nodes further: see PlaceRules.
	Rules PlaceRules
}

// PlaceRules are what a query requires of all nodes for the pods of a place.
type PlaceRules uint8

const (
	// VarietyKept: only nodes that keep the variety of their pool's minValues.
	VarietyKept PlaceRules = 1 << iota
	// ReservedOnly: only nodes bought from a reservation.
	ReservedOnly
)

// Option is one node to buy: a row of a pool's table in one slot.
type Option struct {
	Pool, Row, Slot int32
	// Assign is the pool's assignment of open labels.
	Assign int32
	// Cell of the node; AnyCell if cells play no part.
	Cell int32
	// Limited is true for nodes bought from a reservation, which has a limited number of instances.
	Limited bool
	// Commitment is the number, from 1, of the commitment that covers it, and how much of it the node uses; 0 in all but Problem.Committed.
	Commitment int32
	Used       int64
	// Resident numbers the set of its DaemonSets that topology rules could see; 0 for none.
	Resident int32
	Price    int64
	Alloc    []int64
	// Open contains the positions of the places that may use it, in PlacesInUse's order.
	Open bitset.Set
}

// Load is some pods of one item.
type Load struct {
	Item  int32
	Count int32
}

// Seed is a known filling of a node of the option.
type Seed struct {
	Load   []Load
	Option int32
}

// Dominated is an option that the option numbered By can replace.
type Dominated struct {
	*Option
	By int
}

// PlacesInUse returns the different places of the items, in a total order.
func PlacesInUse(items []Item) []Place {
	seen := make(map[Place]bool, 8)
	var places []Place
	for i := range items {
		if !seen[items[i].Place] {
			seen[items[i].Place] = true
			places = append(places, items[i].Place)
		}
	}
	slices.SortFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Rules, b.Rules))
	})
	return places
}

// CompareOptions orders by price; of equal prices, the larger comes first, then the one open to more places.
func CompareOptions(a, b *Option) int {
	if a.Price != b.Price {
		return cmp.Compare(a.Price, b.Price)
	}
	if n := slices.Compare(b.Alloc, a.Alloc); n != 0 {
		return n
	}
	return cmp.Or(cmp.Compare(b.Open.Count(), a.Open.Count()),
		cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Row, b.Row), cmp.Compare(a.Slot, b.Slot), cmp.Compare(a.Assign, b.Assign))
}

// PerOption returns how many pods of the item fit on an empty node of the option, at most the item's count.
func (p *Problem) PerOption(it *Item, at int, o *Option) int {
	if !o.Open.Has(at) {
		return 0
	}
	return resources.HowMany(it.Need, o.Alloc, min(it.Count, it.PerNode))
}

// Smallest returns the smallest need of any item for each resource.
func Smallest(items []Item, dims int) []int64 {
	small := make([]int64, dims)
	for d := range small {
		small[d] = math.MaxInt64
		for i := range items {
			small[d] = min(small[d], items[i].Need[d])
		}
	}
	return small
}

// FewItems is a number of items for which a linear program needs no shortcuts.
const FewItems = 16
