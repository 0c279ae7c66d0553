// Package likeness finds pods that planning can treat alike.
//
// The question: which pods are equal for planning, and which properties of a pod matter for planning?
//
// The input is all pods of a cluster. The output is a [Roster] with patterns, and the texts of a [Writer]. Of the properties that planning
// reads, pods of one pattern differ only in age and name. Pods of one class have equal texts. The roster also contains marks and facts of
// single pods: whether a pod has ended, is nominated for a node, or has volumes with claims.
//
// The method: all properties that a scheduler looks at are written as a text (podtext), and the text is looked up in a map. The roster
// reads each pod once, because tens of thousands of pods don't fit into a processor's caches. The longer text, which depends on volumes and
// rules, is then written for only one pod of each pattern. The first of equal pods by [Compare] represents all of them.
//
// The cost: one pass over the pods and their labels, requests and terms. A pod that equals an earlier pod causes no allocation.
package likeness
