// Package discovery reads from EC2 which instance types a region has and which zones offer them, and remembers what
// memory machines turned out to have.
//
//	d, err := discovery.New(discovery.Options{API: ec2API, Region: "eu-west-1", Seed: saved})
//	if err != nil { … }
//	next, err := d.Refresh(ctx) // call it again at next
//	facts, err := d.Catalog()   // never waits for EC2
//
// A refresh is put together aside and published at once: readers see the old catalogue or the new one, and never wait
// (OPP-03). One that brings nothing new leaves the catalogue that is there, the same pointer (AWI-015); one that fails,
// or that brings nothing at all, leaves it too and says so. A catalogue that was saved (catalog.Write) is a seed to start
// from while EC2 can't be reached (OPP-16).
//
// [Memory] keeps the memory that kubelets reported, by instance type and set of images (AWI-066, OPP-08).
//
// # Deliberate differences
//
//   - An empty answer leaves what was known instead of replacing it (AWI-015).
//   - No lock is held while EC2 is asked (AWI-017).
//   - There is one refresh at the start, not two, and nobody has to wait for it: a seed stands in (AWI-006, AWI-014).
//     Back-off begins at a second.
//   - Memory that was seen with other images of a family stands in until a node contradicts it (AWI-066).
package discovery
