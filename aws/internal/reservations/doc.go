// Package reservations finds the capacity reservations and capacity blocks that a node class selects, tracks their free room between two
// reads, and decides what happens to instances when a reservation is lost, gained or about to end.
//
//	found, err := finder.Find(ctx, class.Spec.CapacityReservationSelectorTerms) // at most once a minute per query
//	class.Status.CapacityReservations = found.Status()
//	room := finder.Tracker().Snapshot().Room("cr-1") // shared by all NodePools
//
// A [Finder] asks EC2; nothing else here does. The [Tracker] follows launches and terminations between EC2's answers. [StateAt], the
// state of a reservation at a time, and [Relabel], the labels of its instances, are pure functions.
//
// # Deliberate differences
//
//   - Lookups of different classes don't wait for each other.
//   - A launch that is in progress holds its place ([Tracker.Hold]), and a count never exceeds the size of the reservation.
//   - Demotion also removes the interruptible label, and instances that a reservation of the class takes in are promoted.
package reservations
