// Package existing knows the nodes that are there, or on their way.
//
// The question: which labels and taints does a node have in its present phase, how much has it free, which of its pods would need a new place,
// which classes of pods does it take, resources aside, and what was it bought as?
//
// Input are Nodes and NodeClaims with the pods bound to them ([Source]), the classes of these pods, DaemonSets, limits on volumes, and the labels
// that somebody asks about. Output is a [Node] for each, its free amounts, the [Groups] of nodes that no pod can tell apart by labels and
// taints, an [Acceptance] that answers which group takes which shape of pods, and [Standings]: what the nodes use of commitments, by the offerings
// that a [Seller] finds them to be bought as.
//
// The method: before registration the claim speaks, after it the node ([ViewOf]). What bound pods, DaemonSet pods that are yet to come and volumes
// that are still attached take is taken off the allocatable amounts, a volume that several pods share once. Nodes are grouped by those
// labels alone that somebody asks about; an answer is found once for each pair of group and shape, and kept.
//
// The cost: a pass over nodes and their pods. After a change, nodes that are as they were are told apart by their group before and the labels
// that are asked about only now ([Regrouping]).
package existing
