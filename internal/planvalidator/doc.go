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
// It knows resources, labels, taints, DaemonSets, limits, prices and certificates; topology spread, pod affinity and
// anti-affinity, volumes, host ports, minValues and reservations, for the default Query. The plan's pods are bound one after
// another as it says; then each refused pod is tried on every node that stands, in place of every planned node as
// any type that would do, and on one more node of any kind, after which all other pods must still be bindable.
//
// Not known: default spread constraints, with which nothing is said of rules between pods; volumes of plugins built into
// Kubernetes, claims promised a node and classes without provisioner, whose pods are passed over.
package planvalidator
