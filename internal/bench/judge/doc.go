// Package judge evaluates a plan by the same rules for every planner: how many nodes it launches, what they cost, and which of its
// placements a cluster would refuse. It shares no code with any planner. Kubernetes' own component-helpers evaluate requests, node affinity
// and tolerations. For the rules between pods, this package counts pods itself.
//
//	j := judge.New(snapshot)
//	verdict := j.Check(plan)
//	fmt.Println(verdict.Nodes, verdict.HourlyCost, verdict.Refusals)
//
// For each node, a planner states requirements and the suitable instance types. The judge launches the cheapest available offering that
// meets the requirements. This node determines the price, and it must accept the pods.
//
// Pods are then bound, one after the other, to the nodes in the plan. The rules are kube-scheduler's rules about resources, taints, node
// selector and affinity, host ports, hard spread constraints, and required affinity and anti-affinity in both directions. If the judge
// refuses a pod, it tries the pod again after it has bound other pods. So a pod counts as refused only if it can't be bound in any of the
// orders that are tried. Volumes are ignored.
package judge
