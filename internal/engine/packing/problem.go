package packing

// Problem describes which new nodes can be bought for which pods, in numbers only.
type Problem struct {
	// Dims is the number of dimensions of Item.Need and Option.Alloc: resources first, then caps, which are limits on how many
	// pods of a group one node may hold.
	Dims int
	// Scarce lists the dimensions whose balance matters when a node is filled. It does not contain pod slots and caps.
	Scarce []int
	Items  []Item
	// Options are sorted by price, cheapest first.
	Options []Option
	// Likely is the likely price of a node in a good packing, nano-USD per hour; 0 if unknown.
	Likely int64
	// Room bounds how many more pods of an item fit on a node of the option with the load, by rules that are not caps. Nil if there are no
	// such rules; called only for items with Ruled.
	Room func(option int32, load []Load, item int32) int
	// Fits reports whether those rules allow the whole load on a node of the option. Nil if and only if Room is nil.
	Fits func(option int32, load []Load) bool
}

// Item is a group of equal pods.
type Item struct {
	// Need of one pod, by dimension.
	Need []int64
	// Count of pods, and how many of them one node may hold at most.
	Count, PerNode int
	// Place is the position of the item's place in Option.Open.
	Place int
	// Cell that the item must be in, or AnyCell.
	Cell int32
	// Value of one pod, nano-USD per hour: about the cost of its share of a node.
	Value int64
	// Ruled items have rules that Problem.Room checks.
	Ruled bool
}

// AnyCell is the cell of items and options for which cells play no part.
const AnyCell = -1

// Option is a kind of node to buy.
type Option struct {
	// Price in nano-USD per hour.
	Price int64
	// Alloc is its room for pods, by dimension.
	Alloc []int64
	// Open is the set of places whose pods it takes, one bit each.
	Open []uint64
	Cell int32
	// Ratio is the most value that it could hold, divided by its price, in parts of RatioOne.
	Ratio int64
}

// RatioOne is the Option.Ratio of a node that can hold exactly its price in value.
const RatioOne = 1 << 10

// Load is some pods of one item on a node.
type Load struct {
	Item, Count int32
}

// Node is a node to buy with its pods.
type Node struct {
	Option int32
	// Load is sorted by item.
	Load []Load
	// lost is its cost beyond the value of its pods.
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
