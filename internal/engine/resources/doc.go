// Package resources represents the requests of pods and the amounts of nodes as vectors of integers.
//
// The question: how much of each resource does a pod request, and how many such pods does a node have room for?
//
// The input is pods and lists of quantities. The output is vectors, which are indexed by the indexes that a [Table] gives to resources: CPU
// is in millicores, all other resources are in whole units (bytes, devices, pods). Requests are rounded up and capacities down, so that
// rounding never promises more than exists.
//
// The method: [OfPod] treats containers, sidecars, resizes and overhead as kube-scheduler does. [Fits], [HowMany] and [AddScaled] are loops
// over a few integers. [MaxTree] finds the first of many vectors that has room for a need, with a binary tree of maxima (a tournament tree;
// Knuth, The Art of Computer Programming, volume 3, section 5.4.1). No package of the planner computes with quantities for which arithmetic
// would take minutes ([Absurd]). Requests that no node could grant are refused before this conversion ([CheckPod]).
//
// The cost: a comparison takes as many steps as there are resources. A search in a tree of n vectors takes about log n comparisons. The
// search takes more comparisons if the maxima of several resources come from different vectors, so that no single vector has room.
package resources
