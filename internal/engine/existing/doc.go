// Package existing prepares nodes that exist or are being launched for planning.
//
// The question: which labels and taints does a node have in its current phase, which amounts are free on it, and which of its pods would
// need a new place? Which classes of pods does the node accept, without regard to resources, and with which offering was the node bought?
//
// The input is Nodes and NodeClaims with the pods bound to them ([Source]), the classes of these pods, DaemonSets, limits on volumes, and
// the labels that pods or rules use. The output is a [Node] for each node with its free amounts, and the [Groups] of nodes that have equal
// labels and taints for all pods. An [Acceptance] says which group accepts which shape of pods. [Standings] say how much of commitments the
// nodes use, according to the offerings that a [Seller] finds for them.
//
// The method: before registration the data of the NodeClaim is used, after registration the data of the Node ([ViewOf]). Allocatable
// amounts are reduced by bound pods, by DaemonSet pods that are not bound yet, and by volumes that are still attached. A volume that
// several pods share counts once. Nodes are grouped only by their taints and the labels that pods or rules use. Whether a group accepts a
// shape is computed once for each pair and cached.
//
// The cost: a pass over nodes and their pods. After a change, unchanged nodes are grouped by their previous group and by the labels that
// pods did not ask about before ([Regrouping]).
package existing
