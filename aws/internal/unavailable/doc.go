// Package unavailable remembers for which offerings EC2 had no capacity, so that planners avoid them for a while.
//
//	memory := unavailable.New(unavailable.Options{})
//	effect := memory.Observe(unavailable.Failure{
//		Code: "InsufficientInstanceCapacity", CapacityType: "spot", InstanceType: "m5.large", Zone: "us-east-1a",
//	})
//	_, closed := memory.Snapshot().Closed(effect.Keys[0], nil)
//
// [Judge] is a pure function that turns a failure into marks: it closes an offering, a capacity type, a subnet, a quota or a reservation.
// The [Memory] decides how long:
//
//   - The first mark of an offering lasts [DefaultFirst], each further mark twice as long as the one before, up to [DefaultLongest], all
//     with a jitter that follows from a seed. Marks of things that were closed at once thus don't open at once.
//   - When a mark has ended, the offering is on probation: one launch at a time may try it (see [Memory.Begin]), and it looks closed to
//     all others until that launch has ended. Success forgets it, failure marks it again.
//   - Larger sizes of a family that had no room for a smaller one go on probation too, without being closed.
//   - A vCPU quota closes all types of its class that have at least as many vCPUs as the refused type.
//
// Readers take a [Snapshot], which never changes and is the same pointer for as long as nothing changed. All of it is
// deterministic: the same calls at the same times of the injected clock give the same answers.
//
// # Deliberate differences
//
//   - Lifetimes grow and are tried by one launch at a time, instead of three minutes flat; a quota closes the
//     types of its class instead of one type in one zone.
//   - A subnet without addresses closes the subnet alone, not the type as well: classes with other subnets can
//     have it. A full spread group closes its zone for every type and capacity type, not just for those of the request.
//   - Marks of a partition count.
//   - There is no sequence number: a snapshot that is the same pointer says the same, and what is marked is in
//     the next one.
package unavailable
