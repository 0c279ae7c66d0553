// Package offers lists the new nodes from which a plan can choose.
//
// The question: which nodes could be bought for these pods, if nodes that another node can replace are left out?
//
// The input is a [Market] (NodePools with the nodes that they may launch, the stages of pods, and the rules between pods) and the items
// that need nodes. The output is a [Choice], the problem that packages pricing and filling solve. It has options sorted by price, without
// dominated ones; rules about single nodes as amounts ([Cap]); resources counted in whole units, for proofs; and joined items ([Alike]).
// [Market.Sites] returns, for each cell, the nodes for one stage of pods.
//
// The method is enumeration with dominance. It lists, for each set of places, the cheapest slot of each row of a pool, and then compares
// every option with the cheaper ones. Counting in whole units is a rounding cut (Gomory, 1958; Chvátal, Edmonds polytopes and a hierarchy
// of combinatorial problems, 1973).
//
// The cost: the number of rows times the number of slots for each pool that no other pool covers, and the number of options times the
// number of kept options. Most of these comparisons need only one word of bits or one amount.
package offers
