// Package volumes determines the constraints that a pod's volumes put on nodes.
//
// The question: on which nodes can a pod use its volumes, which volumes does it attach to the node, and which of these volumes does it
// share with other pods? The rules are those of kube-scheduler's plugins VolumeBinding, VolumeZone, NodeVolumeLimits and
// VolumeRestrictions, because kube-scheduler decides in the end.
//
// The input is the objects of a cluster ([Objects]) and the pods with volumes. [New] reads everything in one pass into an [Index], which
// never changes afterwards: any number of goroutines may use it.
//
// The output of [Index.Of] is [Constraints]: alternatives, at least one of which a node must meet. [Index.Attached] lists the volumes that
// a pod attaches to its node. [NodeLimits] returns how many volumes a node can attach. [Index.Unused] counts the volumes that are still
// attached to a node although no pod uses them. [Index.AppendText] gives the same text for pods with interchangeable volumes. [Disks] lists
// disks that pods name directly, without a claim.
//
// The method: each claim is resolved once, to the topologies of its volume or of its class. Each list of alternatives has a number, and
// claims that can be used on the same nodes share one list. The lists of a pod's claims are combined with each other, up to 1,024
// alternatives. Pending claims for manually created volumes get the smallest suitable volumes.
//
// The cost: one pass over claims, volumes, attachments and pods, with a sort of the claims. The cost of a query is proportional to the
// number of the pod's volumes plus the number of combinations of their alternatives.
package volumes
