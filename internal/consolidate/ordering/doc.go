// Package ordering answers one question: in which order, and in which waves, are the commands of a plan carried out?
//
// Input are the commands that a search has found; output are those that hold, in waves, and the nodes that are left for the next plan, with
// what keeps each. Where rules about how pods are spread make places depend on the order, commands are carried out on a trial until an order
// is found. Asked for it, each wave is also held against kube-scheduler, which puts pods where it likes, and against provisioning's planner,
// which may ask for further nodes.
//
// Without rules and checks it takes what package waves takes. An order takes what package replay takes, robustness pods times nodes for each
// random order, and each check a plan of provisioning for the whole cluster.
//
//	order        that can be carried out            order.go
//	robustness   whatever kube-scheduler does       robustness.go
//	agreement    with provisioning's planner        agreement.go, carriedout.go, extending.go
package ordering
