// Package volumes answers what the volumes of a pod ask of a node.
//
// The question: on which nodes can a pod have its volumes, which of them does it attach there, and which of those does it share with other
// pods? The judge is kube-scheduler, whose plugins VolumeBinding, VolumeZone, NodeVolumeLimits and VolumeRestrictions decide it in the
// end.
//
// Input are the objects of a cluster, [Objects], and the pods with volumes. [New] reads all of it in one pass into an [Index], which never
// changes afterwards: any number of goroutines may ask it.
//
// Output of [Index.Of] are [Constraints]: alternatives, of which a node must meet one. [Index.Attached] lists what takes a place for volumes
// on a node, [NodeLimits] how many places a node has, [Index.Unused] what is still attached although nobody uses it. [Index.AppendText] is
// equal for pods whose volumes are interchangeable. [Disks] are those that pods name themselves.
//
// The method: each claim is resolved once, to the topologies of its volume or of its class. Lists of alternatives have numbers, so that claims
// in one place share one; those of several claims are multiplied out, at most 1,024 of them. Claims that wait for volumes made by
// hand get those by size, smallest first.
//
// The cost: one pass over claims, volumes, attachments and pods, with a sort of the claims; a question costs as much as the pod
// has volumes, and the product of their alternatives.
package volumes
