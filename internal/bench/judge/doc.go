// Package judge evaluates a plan by the same rules for every planner: which nodes it launches, what they cost, and which of its placements
// a cluster would refuse. It shares no code with any planner. Kubernetes' own component-helpers evaluate requests, node affinity and
// tolerations; this package counts pods for the rules between pods.
//
//	j := judge.New(snapshot)
//	verdict := j.Check(plan)
//	fmt.Println(verdict.Nodes, verdict.HourlyCost, verdict.Refusals)
//
// A planner states, for each node, requirements and the suitable instance types. The judge launches the cheapest available offering that
// meets the requirements. This final node determines the price, and must accept the pods.
//
// Pods are then bound one after the other to the node that the plan says, with the rules of kube-scheduler: resources, taints, node
// selector and affinity, host ports, hard spread constraints, and required affinity and anti-affinity of both sides. A pod that is refused
// at first is tried again after other pods are bound. So a pod counts as refused only if it can't be bound in any of the orders that are
// tried. Volumes are ignored.
package judge
