// Package likeness finds pods that planning can treat as one.
//
// The question: which pods are alike, and what of a pod matters at all?
//
// Input are all pods of a cluster. Output are a [Roster], which has them in patterns: pods of one pattern differ in nothing that planning reads
// but age and name; and the texts of a [Writer], which are equal for pods of one class. Marks and facts of single pods go with them: whether one
// has ended, is nominated for a node, or uses volumes with claims.
//
// The method: what a scheduler looks at is spelt out (podtext) and looked up in a map. The roster reads each pod once, since tens of
// thousands of pods don't fit into a processor's caches; the longer text, which needs volumes and rules, is then written for one pod of
// each pattern. Of alike pods the first by [Compare] stands for all.
//
// The cost: one pass over the pods and their labels, requests and terms; nothing is allocated for a pod that is like an earlier one.
package likeness
