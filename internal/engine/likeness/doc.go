// Package likeness finds pods that planning can treat as one.
//
// The question: which pods are equal for planning, and which properties of a pod matter for planning?
//
// The input is all pods of a cluster. The output is a [Roster] of patterns, and the texts of a [Writer]. Pods of one pattern differ only
// in age and name among the properties that planning reads. The texts are equal for pods of one class. The roster also contains marks and
// facts of single pods: whether a pod has ended, is nominated for a node, or uses volumes with claims.
//
// The method: all properties that a scheduler looks at are written as a text (podtext), and the text is looked up in a map. The roster
// reads each pod once, because tens of thousands of pods don't fit into a processor's caches. The longer text, which needs volumes and
// rules, is then written for one pod of each pattern. The first of equal pods by [Compare] represents all of them.
//
// The cost: one pass over the pods and their labels, requests and terms; there is no allocation for a pod that equals an earlier pod.
package likeness
