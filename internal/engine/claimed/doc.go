// Package claimed knows which devices pods claim, and how many of them nodes have.
//
// The question: what do the claims of a pod need of the devices of one node, what does a node or an instance type have of that, and does a
// later snapshot still have the same?
//
// Input are the claims, templates, DeviceClasses and ResourceSlices of a snapshot, its pods, and the devices that instance types state.
// Output is an [Index]: for pods that claim devices what they need as amounts of resources ([Index.AddTo]), for nodes and types what they
// have of those ([Index.RoomOfNode], [Index.RoomOfType]), and which pods are apart from others that ask for the same ([Claims.Apart]).
//
// The method: needs and devices become kinds, and kinds amounts that add up (package devices); each is a resource among the others of the
// model's table. What devices serve of an extended resource counts for pods that request it. Pods whose allocated claims share devices
// follow one another, as if by affinity.
//
// The cost: each distinct claim is matched with each inventory once, when the model is compiled; [Index.Stand] and [Index.Has] say when
// it has to be compiled again.
package claimed
