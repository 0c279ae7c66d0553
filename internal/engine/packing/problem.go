package packing

// Problem is which new nodes to buy for pods, as numbers alone.
type Problem struct {
	// Dims is the number of dimensions of Item.Need and Option.Alloc: resources first, then caps, which are limits on how many
	// pods of a group one node may hold.
	Dims int
	// Scarce are the dimensions whose balance matters when a node is filled. Slots for pods and caps are none of them.
	Scarce []int
	Items  []Item
	// Options are sorted by price, cheapest first.
	Options []Option
	// Likely is the price that nodes of a good packing are likely to have, nano-USD per hour; 0 if nothing is known.
	Likely int64
	// Room bounds how many more pods of an item rules that are no caps allow on a node of the option with the load. Nil if
	// there are no such rules; asked only for items with Ruled.
	Room func(option int32, load []Load, item int32) int
	// Fits reports whether those rules allow the whole load on a node of the option. Nil exactly if Room is.
	Fits func(option int32, load []Load) bool
}

// Item is pods that are alike.
type Item struct {
	// Need of one pod, by dimension.
	Need []int64
	// Count of pods, and how many of them one node may hold at most.
	Count, PerNode int
	// Place is the position of the item's place in Option.Open.
	Place int
	// Cell that the item must be in, or AnyCell.
	Cell int32
	// Value of one pod, nano-USD per hour: about what its share of a node costs.
	Value int64
	// Ruled items are under rules that Problem.Room knows.
	Ruled bool
}

// AnyCell is the cell of items and options for which cells play no part.
const AnyCell = -1

// Option is a kind of node to buy.
type Option struct {
	// Price in nano-USD per hour.
	Price int64
	// Alloc is what it has for pods, by dimension.
	Alloc []int64
	// Open is the set of places, one bit each, whose pods it takes.
	Open []uint64
	Cell int32
	// Ratio of the most value that it could hold to its price, in parts of RatioOne.
	Ratio int64
}

// RatioOne is the Option.Ratio of a node that can be filled with just what it costs.
const RatioOne = 1 << 10

// Load is some pods of one item on a node.
type Load struct {
	Item, Count int32
}

// Node is a node to buy with what goes on it.
type Node struct {
	Option int32
	// Load is sorted by item.
	Load []Load
	// lost is what it costs beyond what its pods are worth.
	lost int64
}

// Cost of the nodes, nano-USD per hour.
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
