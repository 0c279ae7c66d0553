package pricing

import (
	"cmp"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Problem says, in plain numbers, which pods need new nodes and which nodes can be bought: items are classes with a count, options are
// nodes with a price. The order of all its lists is fully determined, so that equal problems have equal solutions.
type Problem struct {
	// Dims is the number of dimensions of needs and rooms: first the resources, then amounts that represent rules.
	Dims, Resources int
	Items           []Item
	// Options lists the options to consider. None of them is dominated: no other option is at least as large, at most as expensive, and
	// open to the same items. Sorted by price.
	Options []Option
	// Dominated lists the options that were left out, each with the index of an option that dominates it.
	Dominated []Dominated
	// Celled means that some items differ only in their cell.
	Celled bool
	// Rough means that the values only guide a search; they need not prove a lower bound.
	Rough bool
	// Planned is the cost of the plan whose lower bound is computed, or 0 if there is no plan yet.
	Planned float64
	// Reserved has the name of the reservation that each limited option uses. Left has the number of instances that are left in each
	// reservation.
	Reserved map[int32]string
	Left     map[string]int
	// Committed are options that commitments cover, at the resulting prices. CommitmentLeft is the amount of each commitment that new nodes
	// may use. Both are nil if there are no commitments.
	Committed      []Option
	CommitmentLeft []int64
	// Pressing has, for each rule about single nodes that is expressed as an amount, the least number of nodes that the items need because
	// of the rule. These rules are the last dimensions. They are sorted by this number of nodes, highest first.
	Pressing []int64
	// Seeds are fillings from a known packing.
	Seeds []Seed
}

// reservation returns the name of the reservation that a limited option uses.
func (p *Problem) reservation(o int) string { return p.Reserved[int32(o)] }

// Unbounded is the value of Item.PerNode if only resources limit the number of the item's pods on one node.
const Unbounded = math.MaxInt

// Item is a class of pods that need new nodes.
type Item struct {
	Class int32
	// Place restricts the nodes of the class. Items with the same place may use the same options.
	Place
	Count int
	Need  []int64
	// Topology says which rules about pods concern the class. It is nil if no rule does.
	Topology *topology.Groups
	// PerNode is the maximum number of pods of the class on one new node, or Unbounded.
	PerNode int
	// Ruled means that the item has rules about single nodes that neither PerNode nor caps express.
	Ruled bool
}

// Place is a stage, and the cell to which topology rules assign the pods, or AnyCell.
type Place struct {
	Stage, Cell int32
	// Rules restrict the nodes further: see PlaceRules.
	Rules PlaceRules
}

// PlaceRules are conditions that a query sets for all nodes that the pods of a place may use.
type PlaceRules uint8

const (
	// VarietyKept means that the pods may use only nodes that keep enough types for their pool's minValues.
	VarietyKept PlaceRules = 1 << iota
	// ReservedOnly means that the pods may use only nodes that are bought from a reservation.
	ReservedOnly
)

// Option is one kind of node to buy: an instance type of a pool (a row of the pool's table) in one zone and capacity type (a slot).
type Option struct {
	Pool, Row, Slot int32
	// Assign is the index of the pool's assignment of open labels.
	Assign int32
	// Cell is the node's cell, or AnyCell if cells don't matter.
	Cell int32
	// Limited is true for nodes that are bought from a reservation, because it has a limited number of instances.
	Limited bool
	// Commitment is the number, from 1, of the commitment that covers the node. Used is the amount of the commitment that the node uses.
	// Both are 0 except in Problem.Committed.
	Commitment int32
	Used       int64
	// Resident is the number of the set of the node's DaemonSets that topology rules could see, or 0 if the set is empty.
	Resident int32
	Price    int64
	Alloc    []int64
	// Open contains the indexes of the places that may use the option, in the order of PlacesInUse.
	Open bitset.Set
}

// Load is a number of pods of one item.
type Load struct {
	Item  int32
	Count int32
}

// Seed is a known filling of a node of the option.
type Seed struct {
	Load   []Load
	Option int32
}

// Dominated is an option that the option with the index By can replace.
type Dominated struct {
	*Option
	By int
}

// PlacesInUse returns the distinct places of the items, in a fixed order.
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

// CompareOptions compares by price. Of equally expensive options, the larger option comes first. Of equally large options, the option that
// is open to more places comes first.
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

// PerOption returns how many pods of the item fit on an empty node of the option, but at most the item's count.
func (p *Problem) PerOption(it *Item, at int, o *Option) int {
	if !o.Open.Has(at) {
		return 0
	}
	return resources.HowMany(it.Need, o.Alloc, min(it.Count, it.PerNode))
}

// Smallest returns, for each resource, the smallest need of any item.
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

// FewItems is a number of items. The linear program of a problem with fewer items is small. It is solved without shortcuts such as initial
// fillings from a quick packing.
const FewItems = 16
