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
package discovery
