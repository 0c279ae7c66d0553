package packing

// Problem describes, in numbers only, the new nodes that can be bought and the pods that need nodes.
type Problem struct {
	// Dims is the number of dimensions of Item.Need and Option.Alloc: first the resources, then the caps. Caps limit how many pods of a
	// group one node may hold.
	Dims int
	// Scarce lists the dimensions whose balance matters when a node is filled. It does not contain the resource "pods" and the caps.
	Scarce []int
	Items  []Item
	// Options are sorted by price, cheapest first.
	Options []Option
	// Likely is the likely price of a node in a good packing in nano-USD per hour, or 0 if unknown.
	Likely int64
	// Room returns how many more pods of an item the rules that are not caps allow on a node of the option with the load. It is nil if
	// there are no such rules. It is only called for items with Ruled.
	Room func(option int32, load []Load, item int32) int
	// Fits reports whether the rules that are not caps allow the whole load on a node of the option. It is nil if and only if Room is nil.
	Fits func(option int32, load []Load) bool
}

// Item is a group of equal pods.
type Item struct {
	// Need is the need of one pod, by dimension.
	Need []int64
	// Count is the number of pods. PerNode is the maximum number of them on one node.
	Count, PerNode int
	// Place is the index of the item's place, which is also the index of its bit in Option.Open.
	Place int
	// Cell is the cell that the item must be in, or AnyCell.
	Cell int32
	// Value is the value of one pod in nano-USD per hour: about the cost of the pod's share of a node.
	Value int64
	// Ruled means that the item has rules that Problem.Room checks.
	Ruled bool
}

// AnyCell is the cell of items and options for which cells don't matter.
const AnyCell = -1

// Option is a kind of node to buy.
type Option struct {
	// Price is in nano-USD per hour.
	Price int64
	// Alloc is the option's room for pods, by dimension.
	Alloc []int64
	// Open is the set of places whose pods the option can take, with one bit for each place.
	Open []uint64
	Cell int32
	// Ratio is the highest value that the option could hold, divided by its price, in parts of RatioOne.
	Ratio int64
}

// RatioOne is the Option.Ratio of a node whose highest value equals its price.
const RatioOne = 1 << 10

// Load is a number of pods of one item on a node.
type Load struct {
	Item, Count int32
}

// Node is a node to buy, with its pods.
type Node struct {
	Option int32
	// Load is sorted by item.
	Load []Load
	// lost is the amount by which the price exceeds the value of the pods.
	lost int64
}

// Cost returns the cost of the nodes in nano-USD per hour.
func (p *Problem) Cost(nodes []Node) int64 {
	sum := int64(0)
	for i := range nodes {
		sum += p.Options[nodes[i].Option].Price
	}
	return sum
}

func (o *Option) open(place int) bool { return o.Open[place/64]&(1<<(place%64)) != 0 }

func fits(need, free []int64) bool {
	for d, n := range need {
		if n > free[d] && n > 0 {
			return false
		}
	}
	return true
}
