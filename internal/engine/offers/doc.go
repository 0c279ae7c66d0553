// Package offers lists the new nodes from which a plan can choose.
//
// The question: which nodes could be bought for these pods, without nodes that another node can replace?
//
// The input is a [Market] (NodePools with the nodes that they may launch, the stages of pods, and the rules between pods) and the items
// that need nodes. The output is a [Choice], the problem that packages pricing and filling solve. It has options by price, without
// dominated ones; rules about single nodes as amounts ([Cap]); for proofs, resources counted in whole units; and joined items ([Alike]).
// [Market.Sites] returns the nodes for one stage of pods, for each cell.
//
// The method is enumeration with dominance. It lists the cheapest of each pool's rows and slots for each set of places, and then compares
// every option with the cheaper ones. Counting in whole units is a rounding cut (Gomory, 1958; Chvátal, Edmonds polytopes and a hierarchy
// of combinatorial problems, 1973).
//
// The cost: rows times slots for each pool that no other pool covers, and the number of options times that of kept options. Most of these
// comparisons need only one word of bits or one amount.
package offers
