// Package market knows which nodes are on sale, where, and for how much.
//
// The question: which instance types can still hold something, as which offerings can they be bought, and what does each cost?
//
// Input are lists of instance types, terms that change prices, and commitments that are paid for beforehand. Output is a [Catalog]: variants
// (which node) and slots (where and how it is bought) with a table of prices over both; sets of variants and of slots that meet a requirement
// ([Catalog.VariantMask], [Catalog.SlotMask]); [Line]s that say how a price came about; and what commitments cover ([Costs.FillNew]).
//
// The method: offerings are a product, so that a requirement on a label is a set over one of its factors, and requirements are combined by
// an AND. Money is integers, in nano-USD per hour. Terms apply one after another ([Costs.Walk]). Commitments are filled greedily, the node first that
// saves most for what it uses, which is the fractional knapsack's rule (Dantzig, Discrete-Variable Extremum Problems, 1957) and how AWS
// bills Savings Plans.
//
// The cost: a catalog takes a pass over all offerings, and one more for each set of terms; a set that was asked for is remembered until the
// catalog is frozen. Filling sorts the nodes once for each commitment.
package market
