// Package market describes which nodes can be bought, where, and at which price.
//
// The question: which instance types meet given requirements, as which offerings can they be bought, and what does each cost?
//
// The input is lists of instance types, terms that change prices, and prepaid commitments. The output is a [Catalog] with variants (what
// kind of node), slots (where and how it is bought) and a price for each pair of them. It has sets of variants and slots that meet a
// requirement ([Catalog.VariantMask], [Catalog.SlotMask]), [Line]s that explain a price, and the nodes that commitments cover
// ([Costs.FillNew]).
//
// The method: offerings are a product of variants and slots. A requirement on a label is a set of variants or a set of slots, and
// requirements are combined by an AND. Prices are integers, in nano-USD per hour. Terms apply one after another ([Costs.Walk]). Commitments
// cover nodes greedily, first the node that saves most per unit used. This is the rule of the fractional knapsack (Dantzig,
// Discrete-Variable Extremum Problems, 1957), and also how AWS bills Savings Plans.
//
// The cost: a catalog takes a pass over all offerings, and another pass for each set of terms. Computed sets are cached until the catalog
// is frozen. For each commitment, the nodes to cover are sorted once.
package market
