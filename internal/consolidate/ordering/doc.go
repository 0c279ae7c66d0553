// Package ordering answers one question: in which order, and in which waves, are the commands of a plan executed?
//
// The input is the commands that a search has found. The output is the commands that can be executed, in waves, and the nodes left for the
// next plan, each with its reason. If spread rules make places depend on the order of the commands, the commands are executed on a trial
// until a possible order is found. On request, each wave is also checked in two ways. One check places the pods on other nodes than
// planned, as kube-scheduler might. The other check asks provisioning's planner, which may need further nodes.
//
// Without rules and checks, ordering takes as long as package waves. Finding an order by execution takes as long as package replay. The
// time of the robustness check is proportional to pods times nodes for each random order. Each query to provisioning takes as long as a
// plan for the whole cluster.
//
//	order        that can be carried out            order.go
//	robustness   whatever kube-scheduler does       robustness.go
//	agreement    with provisioning's planner        agreement.go, carriedout.go, extending.go
package ordering
