// Package unavailable remembers for which offerings EC2 had no capacity, so that planners avoid them for a while.
//
//	memory := unavailable.New(unavailable.Options{})
//	effect := memory.Observe(unavailable.Failure{
//		Code: "InsufficientInstanceCapacity", CapacityType: "spot", InstanceType: "m5.large", Zone: "us-east-1a",
//	})
//	_, closed := memory.Snapshot().Closed(effect.Keys[0], nil)
//
// In this package, an offering is closed while nobody should use it, and a mark is the record that closes it. Capacity types, subnets,
// volume types and quotas can also be marked and closed. [Judge] is a pure function that returns which offerings and other objects are
// unavailable after a failed launch. The [Memory] decides how long:
//
//   - The first mark of an offering lasts [DefaultFirst]. Each further mark lasts twice as long as the one before, up to [DefaultLongest].
//     A jitter, which depends on a seed, changes each duration, so that offerings that were closed together don't open together.
//   - When a mark has ended, the offering is on probation: one launch at a time may try it (see [Memory.Begin]). For all other launches the
//     offering is closed until that launch has ended. If the launch succeeds, the mark is forgotten; if it fails, the offering is marked
//     again.
//   - If a family had no capacity for a type, its larger sizes also go on probation, without being closed.
//   - An exhausted vCPU quota closes all instance types that it counts and that have at least as many vCPUs as the refused type.
//
// Callers read a [Snapshot]. It never changes, and it is the same pointer as long as nothing changed. The package is deterministic: the same
// calls at the same times of the injected clock give the same answers.
//
// # Deliberate differences
//
//   - Repeated marks last longer and longer; in Karpenter every mark lasts three minutes. After a mark, only one launch at a time tries the
//     offering again. A quota closes the types of its class instead of one type in one zone.
//   - If a subnet has no free addresses, only the subnet is closed, not the instance type: classes with other subnets can launch it. A full
//     spread group closes its zone for every type and capacity type, not just for those of the request.
//   - Partitions of placement groups have their own marks.
//   - Changes have no sequence number: if two snapshots are the same pointer, nothing has changed. A new mark is in the next snapshot.
package unavailable
