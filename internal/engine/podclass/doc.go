// Package podclass knows what pods ask of nodes, and in which ways they can get a new one.
//
// The question: which pods are one class to planning, what do these ask of labels, taints, volumes and resources, and which demands on which
// NodePools would give them a new node, the best first?
//
// Input are pods with the texts that likeness writes of them, the pools as nodepool knows them, volumes, and the rules of topology that pods state.
// Output is a [Book] of classes and shapes: a [Class] is what no scheduler could tell apart, a [Shape] is a class without its requests; the
// [Stage]s that are open to each class, with an estimate of what a pod costs there; and [Kind]s, by which a later book takes over what has not changed.
//
// The method: pods with equal texts are one class, numbered in the order of texts so that the order of the input plays no part. Preferences are
// kept as long as they can be kept together, the heaviest first, then given up one by one; each level is combined with each alternative that the
// pod requires, and pools of one weight are one stage, within which price decides. Shapes that differ in requests alone share the work.
//
// The cost: one text for each pattern of pods, one profile for each combination of shape, level, alternative and pool. What was found for a
// shape is taken over by later models with the numbers that its profiles have there ([ProfileNumbers]).
package podclass
