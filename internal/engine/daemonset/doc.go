// Package daemonset knows which pods DaemonSets put on a node.
//
// The question: what will run on a node, and how much will that take of it, before any other pod comes?
//
// Input are DaemonSets, the pods of theirs that are there, and what a node carries: labels and taints, or a catalog of instance types for one
// that is still to be bought. Output is a [Representative] pod for each DaemonSet, and where that would run: [Set.BelongsOn] for a node
// that is known, a [Mask] over variants and slots for all that are on sale.
//
// The method: kube-scheduler and the DaemonSet controller look at required node affinity, node selector and NoSchedule taints of the
// pod as admission has left it, so that the newest pod there is says more than the template. What a node does not decide is narrowed as
// far as its labels go; each alternative of the affinity is looked at on its own.
//
// The cost: a pass over the DaemonSets' pods, and for each alternative an AND of bit sets for each label that it asks about.
package daemonset
