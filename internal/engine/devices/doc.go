// Package devices answers: which devices of a node can a pod's claims have?
//
// It allocates as the scheduler of Kubernetes does for Dynamic Resource Allocation: requests for a number of devices or for all,
// prioritised alternatives, selectors, device taints, constraints on attributes, devices that several claims share by capacity, and
// devices that are parts of others, by counters.
//
//	inventory := devices.NewInventory(slices)
//	usage := devices.NewUsage(inventory)
//	claim, err := devices.NewClaim("gpus", &object.Spec.Devices, classes)
//	allocation, miss := devices.Allocate([]devices.Source{{Usage: usage}}, []*devices.Claim{claim}, matcher)
//	…
//	allocation.Release()
//
// An Inventory and a Claim never change. A Usage is what is allocated of an Inventory, changed by Allocate and Release, which undo each
// other. CEL is evaluated elsewhere, see Matcher. The search for devices is limited in steps, see MaxSteps.
package devices
