// Package daemonset computes which pods DaemonSets run on a node.
//
// The question: which DaemonSet pods will run on a node, and how much of the node do they use?
//
// The input is DaemonSets, their existing pods, and the labels and taints of a node, or a catalog of instance types for new nodes. The
// output is a [Representative] pod for each DaemonSet, and where it would run: [Set.BelongsOn] for a known node, and a [Mask] over
// variants and slots for all nodes that can be bought.
//
// The method: kube-scheduler and the DaemonSet controller use the pod after admission, with its required node affinity, node selector and
// tolerations. So the newest existing pod is more precise than the template. Each alternative of the affinity is examined separately.
//
// The cost: a pass over the DaemonSets' pods, and for each alternative an AND of bit sets for each label that the alternative uses.
package daemonset
