package pricing

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Problem is the packing of pods onto new nodes, stripped to numbers: items (classes with a count) and options
// (nodes with a price). All orders in it are total, so that equal problems have equal solutions.
type Problem struct {
	// Dims are the dimensions of needs and rooms: resources first, then amounts that stand for rules.
	Dims, Resources int
	Items           []Item
	// Options that are worth looking at: no other option is at least as large, at most as dear and open to the same
	// items. Sorted by price.
	Options []Option
	// Dominated lists the options left out, each with the index of one that dominates it.
	Dominated []Dominated
	// Celled problems have items that differ in nothing but their cell.
	Celled bool
	// Rough problems need values that steer, not values that prove.
	Rough bool
	// Planned is the cost of the plan whose bound is proven, 0 before there is a plan.
	Planned float64
	// Reserved and left say which reservation each limited option draws on, and how many instances each has.
	Reserved map[int32]string
	Left     map[string]int
	// Committed are nodes that commitments cover, at their price then; CommitmentLeft is what each commitment has left
	// for new nodes. Nil without commitments.
	Committed      []Option
	CommitmentLeft []int64
	// Pressing is at least how many nodes the items need because of each of the rules about single nodes that are amounts. These are
	// the last dimensions, those first that press most.
	Pressing []int64
	// Seeds are fillings of nodes that a packing is known to have.
	Seeds []Seed
}

// reservation names what a limited option draws on.
func (p *Problem) reservation(o int) string { return p.Reserved[int32(o)] }

// Unbounded is the PerNode of items whose number on one node only its resources bound.
const Unbounded = math.MaxInt

// Item is a class of pods that need new nodes.
type Item struct {
	Class int32
	// where the class may go; items of one place may use the same options.
	Place
	Count int
	Need  []int64
	// Topology is how rules about pods concern the class, nil for not at all.
	Topology *topology.Groups
	// PerNode bounds how many of the class one new node may hold; Unbounded for no bound.
	PerNode int
	// Ruled items are under rules about single nodes that neither PerNode nor caps say.
	Ruled bool
}

// Place is a stage, and the cell that topology rules leave for the pods, or AnyCell.
type Place struct {
	Stage, Cell int32
	// Rules narrow the nodes further: see PlaceRules.
	Rules PlaceRules
}

// PlaceRules are what a query asks of all nodes for the pods of a place.
type PlaceRules uint8

const (
	// VarietyKept: only nodes that leave the variety their pool's minValues ask for.
	VarietyKept PlaceRules = 1 << iota
	// ReservedOnly: only nodes bought from a reservation.
	ReservedOnly
)

// Option is one node to buy: a row of a pool's table in one slot.
type Option struct {
	Pool, Row, Slot int32
	// Assign is the pool's assignment of open labels.
	Assign int32
	// Cell the node would be in; AnyCell where cells play no part.
	Cell int32
	// Limited is true for nodes bought from a reservation: there are only so many.
	Limited bool
	// Commitment that covers it, by number from 1 on, and what it uses of it; 0 in all but Problem.Committed.
	Commitment int32
	Used       int64
	// Resident numbers the set of DaemonSets on it that topology rules could notice; 0 for none.
	Resident int32
	Price    int64
	Alloc    []int64
	// Open has the positions, in PlacesInUse's order, of the places it belongs to.
	Open bitset.Set
}

// Load is some pods of one item.
type Load struct {
	Item  int32
	Count int32
}

// Seed is a filling of a node of the option.
type Seed struct {
	Load   []Load
	Option int32
}

// Dominated is an option that the one numbered By stands in for.
type Dominated struct {
	*Option
	By int
}

// PlacesInUse are the different places of the items, in a total order.
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

// CompareOptions orders by price; of equals, the larger and then the one open to more comes first.
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

// PerOption is how many pods of the item fit on an empty node of the option, at most as many as there are.
func (p *Problem) PerOption(it *Item, at int, o *Option) int {
	if !o.Open.Has(at) {
		return 0
	}
	return resources.HowMany(it.Need, o.Alloc, min(it.Count, it.PerNode))
}

// Smallest is the least amount of each resource that any item needs.
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

// FewItems is so few that a linear program needs no help.
const FewItems = 16
