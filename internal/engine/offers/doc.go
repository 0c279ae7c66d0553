// Package offers says which new nodes there are to choose from.
//
// The question: which nodes could be bought for these pods, leaving out those that another can stand in for?
//
// Input is a [Market]: NodePools with what they may launch, the ways in which pods may be placed (stages), and the rules between pods; and
// the items to buy for. Output is a [Choice], the problem that packages pricing and filling solve: options by price, of which none is
// dominated; rules about single nodes as amounts that nodes have so much of ([Cap]), and for proofs resources counted in whole units; and
// items joined that may stay together ([Alike]). [Market.Sites] are the nodes for one way of placing pods, cell by cell.
//
// The method is enumeration with dominance: of each pool's rows and slots the cheapest per set of places, then every option is compared with
// the cheaper ones. Counting in whole units is a rounding cut (Gomory, 1958; Chvátal, Edmonds polytopes and a hierarchy of combinatorial
// problems, 1973).
//
// The cost: rows times slots for each pool that no other covers, and options times those kept, most of which one word of bits or one
// amount decides.
package offers
