// Package judge says what a plan is worth, by one rule for every planner: which nodes it comes to, what they cost, and
// which of its placements a cluster would refuse. It shares no code with any planner: requests, node affinity and
// tolerations are read by Kubernetes' own component-helpers, rules between pods are counted here.
//
//	j := judge.New(snapshot)
//	verdict := j.Check(plan)
//	fmt.Println(verdict.Nodes, verdict.HourlyCost, verdict.Refusals)
//
// A planner states, for each node, requirements and the instance types that would do. Launched is the cheapest
// available offering that meets the requirements; this final node is what is priced and what the pods must accept.
//
// Pods are then bound one after the other, each where the plan puts it, as kube-scheduler would: resources, taints, node
// selector and affinity, host ports, spread constraints that must hold, required affinity and anti-affinity of both
// sides. A pod that is refused now is tried again once others stand, so that only pods that fit in no order tried
// count as refused. Volumes are not looked at.
package judge
