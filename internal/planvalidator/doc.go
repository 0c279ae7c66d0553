// Package planvalidator re-checks a scheduling.Plan against the Snapshot it was made from. It shares no code with the
// planner: it reads the Kubernetes objects themselves, adds resource.Quantities and matches labels by its own rules,
// so that a bug of the planner can't be in both. It is slow and intended for tests.
//
//	for _, fault := range planvalidator.Check(snapshot, plan) {
//		t.Error(fault)
//	}
//
// It checks two properties. Is the plan valid: is each pod listed exactly once, is each placement allowed, does it fit whichever of the
// listed instance types and offerings is launched, are limits kept, do cost and bound add up? And is it complete: does a pod that was
// refused really have no place?
//
// It supports resources, labels, taints, DaemonSets, limits, prices and certificates; topology spread, pod affinity and anti-affinity,
// volumes, host ports, minValues and reservations, for the default Query. The plan's pods are bound one after another in its order. Then
// each refused pod is tried on every existing node, in place of every planned node as any suitable type, and on one more node of any kind;
// after that, all other pods must still be bindable.
//
// Not supported: default spread constraints, with which rules between pods are not checked; volumes of in-tree plugins, claims that were
// assigned a node, and classes without provisioner, whose pods are skipped.
package planvalidator
