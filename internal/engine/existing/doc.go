// Package existing knows the nodes that are there, or on their way.
//
// The question: which labels and taints does a node have in its current phase, how much is free on it, and which of its pods would need a
// new place? Which classes of pods does it accept, resources aside, and by which offering was it bought?
//
// Input are Nodes and NodeClaims with the pods bound to them ([Source]), the classes of these pods, DaemonSets, limits on volumes, and the
// labels that pods or rules ask about. Output is a [Node] for each, its free amounts, the [Groups] of nodes that no pod can tell apart by
// labels and taints, an [Acceptance] that answers which group takes which shape of pods, and [Standings]: what the nodes use of
// commitments, by the offerings that a [Seller] finds them to be bought as.
//
// The method: before registration the claim speaks, after it the node ([ViewOf]). Allocatable amounts are reduced by bound pods, by
// DaemonSet pods that are not bound yet, and by volumes that are still attached; a volume that several pods share counts once. Nodes are
// grouped only by labels that pods or rules ask about; the answer for each pair of group and shape is computed once and kept.
//
// The cost: a pass over nodes and their pods. After a change, unchanged nodes are grouped by their previous group and the labels that are
// new in question ([Regrouping]).
package existing
