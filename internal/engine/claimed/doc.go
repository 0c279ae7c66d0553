// Package claimed computes which devices pods claim, and how many of them nodes have.
//
// The question: which devices do a pod's claims need on one node, which devices does a node or an instance type offer, and does a later
// snapshot still have the same devices?
//
// The input is the claims, templates, DeviceClasses and ResourceSlices of a snapshot, its pods, and the devices that instance types state.
// The output is an [Index]. It has the needs of pods that claim devices, as amounts of resources ([Index.AddTo]), and the amounts of nodes
// and types ([Index.RoomOfNode], [Index.RoomOfType]). It also says which pods differ from other pods that refer to the same claims
// ([Claims.Apart]).
//
// The method: needs and devices are grouped into kinds, and kinds are converted to amounts that can be added (package devices). Each amount
// is a resource in the model's table of resources. Devices that serve an extended resource are counted for pods that request this resource.
// Pods that share the devices of allocated claims must run on the same node, as if they had pod affinity.
//
// The cost: each distinct claim is matched with each inventory once, when the model is compiled. [Index.Stand] and [Index.Has] say when the
// model must be compiled again.
package claimed
