// Package planvalidator checks a scheduling.Plan again, against the Snapshot from which it was made. It shares no code with the planner. It
// reads the Kubernetes objects itself, adds resource.Quantities and matches labels with code of its own, so that a bug of the planner can't
// be in both. It is slow and intended for tests.
//
//	for _, fault := range planvalidator.Check(snapshot, plan) {
//		t.Error(fault)
//	}
//
// It checks two properties. First, is the plan valid? Each pod must be listed exactly once. Each placement must be allowed, and the pods
// must fit on each of the listed instance types and offerings. Limits must be kept, and cost and bound must be right. Second, is the plan
// complete? A pod that was refused must really have no place.
//
// For the default Query, it supports resources, labels, taints, DaemonSets, limits, prices and certificates, topology spread, pod affinity
// and anti-affinity, volumes, host ports, minValues and reservations. The plan's pods are bound one after another, in the order of the
// plan. Then each refused pod is tried on every existing node, on every planned node as any suitable type, and on one more node of any
// kind. After that, it must still be possible to bind all other pods.
//
// Some things are not supported. If there are default spread constraints, rules between pods are not checked. Pods are skipped if they use
// volumes of in-tree plugins, claims for which a node was chosen, or classes without provisioner.
package planvalidator
