// Package devices answers: which devices of a node can the claims of a pod get?
//
// It allocates devices like kube-scheduler for Dynamic Resource Allocation. It supports requests for a number of devices or for all
// devices, prioritised alternatives, selectors, device taints, and constraints on attributes. Several claims may share the capacity of a
// device. Devices may be parts of other devices and use their counters.
//
//	inventory := devices.NewInventory(slices)
//	usage := devices.NewUsage(inventory)
//	claim, err := devices.NewClaim("gpus", &object.Spec.Devices, classes)
//	allocation, miss := devices.Allocate([]devices.Source{{Usage: usage}}, []*devices.Claim{claim}, matcher)
//	…
//	allocation.Release()
//
// An Inventory and a Claim never change. A Usage records which devices of an Inventory are allocated. Allocate changes it, and Release
// undoes this change. A Matcher, which the caller passes, evaluates CEL. The number of steps of the search for devices is limited: see
// MaxSteps.
package devices
