// Package market contains which nodes can be bought, where, and at which price.
//
// The question: which instance types can still hold something, as which offerings can they be bought, and what does each cost?
//
// The input is lists of instance types, terms that change prices, and prepaid commitments. The output is a [Catalog]: variants (which
// node) and slots (where and how it is bought) with a table of prices over both; sets of variants and of slots that meet a requirement
// ([Catalog.VariantMask], [Catalog.SlotMask]); [Line]s that explain a price; and what commitments cover ([Costs.FillNew]).
//
// The method: offerings are a product of variants and slots. A requirement on a label is a set over one of the two factors, and
// requirements are combined by an AND. Money is in integers, in nano-USD per hour. Terms apply one after another ([Costs.Walk]).
// Commitments cover nodes greedily, first the node that saves most per unit used. This is the rule of the fractional knapsack (Dantzig,
// Discrete-Variable Extremum Problems, 1957), and also how AWS bills Savings Plans.
//
// The cost: a catalog takes a pass over all offerings, and one more for each set of terms; a computed set is cached until the catalog is
// frozen. Filling sorts the nodes once for each commitment.
package market
