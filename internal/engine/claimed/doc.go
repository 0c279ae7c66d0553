// Package claimed computes which devices pods claim, and how many of them nodes have.
//
// The question: what do the claims of a pod need of the devices of one node, what does a node or an instance type offer, and does a later
// snapshot still have the same devices?
//
// The input is the claims, templates, DeviceClasses and ResourceSlices of a snapshot, its pods, and the devices that instance types
// state. The output is an [Index]. It has the needs of pods that claim devices, as amounts of resources ([Index.AddTo]), the amounts of
// nodes and types ([Index.RoomOfNode], [Index.RoomOfType]), and which pods differ from others that ask for the same ([Claims.Apart]).
//
// The method: needs and devices become kinds, and kinds become amounts that add up (package devices); each is a resource of the model's
// table. The devices that serve an extended resource count for pods that request it. Pods that share the devices of allocated claims follow
// one another, as if by affinity.
//
// The cost: each distinct claim is matched with each inventory once, when the model is compiled; [Index.Stand] and [Index.Has] say when
// it must be compiled again.
package claimed
