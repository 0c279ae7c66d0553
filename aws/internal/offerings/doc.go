// Package offerings returns the instance types that a NodePool can launch: those of its node class, each with its offerings (zone, capacity
// type, reservation and partition), their prices and their availability.
//
//	view, err := offerings.NewView(facts, class, offerings.Options{})
//	if err != nil { … }
//	types, err := store.Types(market, view)
//
// The result is a pure function, [Resolve], of two values: the [Market], which contains the current knowledge about EC2, and the [View],
// which contains the settings of a node class. There is no other input. So no cache key can be incomplete, and as soon as an offering is
// recorded as unavailable, it is unavailable in the results for every class.
//
// A [Store] returns the same results and shares them: classes with equal settings share one list, for any number of NodePools, and an
// unchanged type keeps its pointer, so that planners recognise it. [Explain] returns, for each offering of a type, why it is or is not
// available.
//
// # Deliberate differences
//
//   - No cache has a lifetime, and resolvers don't form a chain: a result is computed again only when a value that it depends on has
//     changed. So changes have an effect at once.
//   - Offerings are listed in the zones that offer the type instead of in every zone of the region. An offering without a price is left
//     out instead of priced at 0, because planners would put every pod on it. Explain lists the offerings that are left out.
//   - Zones are identified by name, which every subnet has.
package offerings
