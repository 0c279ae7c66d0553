// Package judge evaluates a plan, by one rule for every planner: which nodes it launches, what they cost, and which of its placements a
// cluster would refuse. It shares no code with any planner: requests, node affinity and tolerations are evaluated by Kubernetes' own
// component-helpers, rules between pods are counted here.
//
//	j := judge.New(snapshot)
//	verdict := j.Check(plan)
//	fmt.Println(verdict.Nodes, verdict.HourlyCost, verdict.Refusals)
//
// A planner states, for each node, requirements and the suitable instance types. The node launched is the cheapest available offering that
// meets the requirements; this final node is what is priced and what must accept the pods.
//
// Pods are then bound one after the other, each where the plan puts it, with the rules of kube-scheduler: resources, taints, node selector
// and affinity, host ports, hard spread constraints, and required affinity and anti-affinity of both sides. A pod that is refused at first
// is tried again after others are bound. So a pod counts as refused only if it can't be bound in any of the orders that are tried. Volumes
// are ignored.
package judge
