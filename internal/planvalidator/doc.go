// Package planvalidator re-checks a scheduling.Plan against the Snapshot it was made from. It shares no code with the
// planner: it reads the Kubernetes objects themselves, adds resource.Quantities and matches labels by its own rules,
// so that a fault of the planner can't hide in both. It is slow and made for tests.
//
//	for _, fault := range planvalidator.Check(snapshot, plan) {
//		t.Error(fault)
//	}
//
// Two questions are asked. Is the plan sound: does each pod stand exactly once, is each placement allowed and does it
// fit, whichever of the listed instance types and of their offerings is launched, are limits kept, do cost and bound
// add up? And is it complete: does a pod that was refused really have no place?
//
// It knows resources, labels, taints, DaemonSets, limits, prices and certificates. Topology, pod affinity, volumes, host
// ports, minValues and reservations are not looked at: a pod refused for one of them reads here as one that has a place.
package planvalidator
