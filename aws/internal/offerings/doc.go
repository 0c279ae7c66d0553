// Package offerings puts together what a NodePool can be given: the instance types of its node class, each with the zones,
// capacity types, reservations and partitions it can be bought in, at which price, and whether that is worth trying now.
//
//	view, err := offerings.NewView(facts, class, offerings.Options{})
//	if err != nil { … }
//	types, err := store.Types(market, view)
//
// An answer is a pure function, [Resolve], of two values: the [Market], which is what is known of EC2 at a moment, and
// the [View], which is what a node class says. There is no other input, so there is no cache key that could lack one,
// and an answer that was asked for after a mark has the mark in it, whichever class asks.
//
// A [Store] gives the same answers and shares them: classes that say the same share one list, whatever the number of
// NodePools, and a type in which nothing changed is the same pointer as in the answer before, so that planners
// recognise it. [Explain] says of a type why each of its offerings is or is not available.
//
// # Deliberate differences
//
//   - There are no caches with a lifetime and no chain of resolvers: an answer is made again whenever anything it
//     depends on is another value, and never otherwise. News show at once.
//   - Offerings are listed in the zones that offer the type instead of in every zone of the region, and one without a
//     price is left out instead of priced at 0: a price of zero draws every pod. Explain has both.
//   - Zones are told by name, which every subnet has.
package offerings
