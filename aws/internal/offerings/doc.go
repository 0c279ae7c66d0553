// Package offerings combines what a NodePool can launch: the instance types of its node class, each with its offerings (zone, capacity
// type, reservation and partition), their prices and their availability.
//
//	view, err := offerings.NewView(facts, class, offerings.Options{})
//	if err != nil { … }
//	types, err := store.Types(market, view)
//
// An answer is a pure function, [Resolve], of two values: the [Market], which is the current knowledge of EC2, and the [View], which
// contains the settings of a node class. There is no other input, so no cache key can be incomplete, and an answer requested after a mark
// contains the mark for every class.
//
// A [Store] returns the same answers and shares them: classes with equal settings share one list, for any number of NodePools, and an
// unchanged type is the same pointer as in the previous answer, so that planners recognise it. [Explain] says of a type why each of its
// offerings is or is not available.
//
// # Deliberate differences
//
//   - There are no caches with a lifetime and no chain of resolvers: an answer is made again whenever anything it
//     depends on is another value, and never otherwise. News show at once.
//   - Offerings are listed in the zones that offer the type instead of in every zone of the region, and one without a
//     price is left out instead of priced at 0: a price of zero draws every pod. Explain has both.
//   - Zones are identified by name, which every subnet has.
package offerings
