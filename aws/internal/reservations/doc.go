// Package reservations finds the capacity reservations and capacity blocks that a node class selects, and tracks their free room between
// two reads. It also decides what happens to instances when they leave or enter a reservation, or when it is about to end.
//
//	found, err := finder.Find(ctx, class.Spec.CapacityReservationSelectorTerms) // at most once a minute per query
//	class.Status.CapacityReservations = found.Status()
//	room := finder.Tracker().Snapshot().Room("cr-1") // shared by all NodePools
//
// Only a [Finder] calls EC2. The [Tracker] follows launches and terminations between EC2's answers. [StateAt], the state of a reservation
// at a time, and [Relabel], the labels of its instances, are pure functions.
//
// # Deliberate differences
//
//   - Lookups of different classes don't wait for each other.
//   - A launch in progress reserves its instance in the counts ([Tracker.Hold]), and a count never exceeds the size of the reservation.
//   - Demotion also removes the interruptible label. Instances that run in a reservation of the class, although they were not launched for
//     it, are promoted.
package reservations
