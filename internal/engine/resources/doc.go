// Package resources represents the requests of pods and the amounts of nodes as vectors of integers.
//
// The question: how much of each resource does a pod request, and how many such pods does a node have room for?
//
// The input is pods and lists of quantities. The output is vectors, indexed by the places that a [Table] gives resources: CPU in
// millicores, all else in whole units (bytes, devices, pods). Requests are rounded up and capacities down, so that rounding never promises
// more than exists.
//
// The method: [OfPod] follows kube-scheduler on containers, sidecars, resizes and overhead. [Fits], [HowMany] and [AddScaled] are loops over
// a few integers; [MaxTree] finds the first of many vectors that has room for a need, by a binary tree of maxima (a tournament tree; Knuth,
// The Art of Computer Programming, volume 3, section 5.4.1). The rooms never compute with quantities for which arithmetic would take minutes
// ([Absurd]), and requests that no node could grant are found beforehand ([CheckPod]).
//
// The cost: a comparison takes as many steps as there are resources, a search in a tree of n vectors about log n comparisons, more where
// the maxima of several resources promise room that no single vector has.
package resources
