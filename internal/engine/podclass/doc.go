// Package podclass determines the demands of pods on nodes, and the stages in which they can get a new node.
//
// The question: which pods form one class for planning, what do they require of labels, taints, volumes and resources, and which demands on
// which NodePools give them a new node, best first?
//
// The input is pods with their texts from package likeness, pools from package nodepool, volumes, and the topology rules that pods state.
// The output is a [Book] of classes and shapes. The pods of a [Class] can't be distinguished by any scheduler; a [Shape] is a class without
// its requests. A class has [Stage]s, each with an estimate of the cost of a pod. A class also has a [Kind], with which a later book finds
// the results that it can reuse.
//
// The method: pods with equal texts form one class, numbered in the order of texts, so that the order of the input does not matter. The
// first stages keep as many preferences as possible together, the heaviest first. Later stages drop preferences one by one. Each level of
// preferences is combined with each alternative that the pod requires. Pools of equal weight form one stage, within which they compete by
// price. Shapes that differ only in requests share the work.
//
// The cost: one text for each pattern of pods, and one profile for each combination of shape, level, alternative and pool. Later models
// reuse the results for a shape, with the numbers that its profiles have in those models ([ProfileNumbers]).
package podclass
