// Package discovery reads from EC2 which instance types a region has and which zones offer them, and records the actual memory of
// instances.
//
//	d, err := discovery.New(discovery.Options{API: ec2API, Region: "eu-west-1", Seed: saved})
//	if err != nil { … }
//	next, err := d.Refresh(ctx) // call it again at next
//	facts, err := d.Catalog()   // never waits for EC2
//
// A refresh builds a new catalogue and publishes it as a whole: goroutines that read it see the old catalogue or the new one, and never
// wait. If a refresh finds no change, the catalogue stays the same pointer. If a refresh fails or gets no types, the catalogue also stays
// unchanged, and the refresh returns an error. A saved catalogue (catalog.Write) can be used until EC2 can be reached.
//
// [Memory] keeps the memory that kubelets reported, by instance type and set of images.
//
// # Deliberate differences
//
//   - An empty answer does not replace the known data.
//   - No lock is held while EC2 is asked.
//   - There is one refresh at the start, not two, and callers need not wait for it: a seed catalogue is used until then. Back-off begins at
//     a second.
//   - Memory that was seen with other images of a family is used until a node reports another value.
package discovery
