// Package topology counts pods in domains, and decides where rules about these counts admit one more pod.
//
// The question: may a pod go on this node, by the topology spread constraints, pod affinities and anti-affinities, host ports and disks of all
// pods? A domain is the set of all nodes with the same value of a label, or a single node. The judge is kube-scheduler, whose plugins
// PodTopologySpread, InterPodAffinity, NodePorts and VolumeRestrictions decide it in the end.
//
// The input is pods, whose rules [Index] reads. Each distinct rule becomes a [Group]; a pod has [Groups]: those whose rules it states,
// and those that count it. The output is the answers of a [State], which knows the pods of each node: [State.Admits] for one node,
// [State.AdmitsDomains] for domains larger than a node, [State.SkewAfter] and [State.Emptiest] for spreads.
//
// The method: groups, domains and nodes have small numbers, so that a state is arrays of counters, which [State.Place] changes by as many
// pods as wanted; a negative number undoes it. The rules of one workload's pods are read once ([Index.Remember]), and a new rule is
// compared with distinct labels, not with pods ([LabelSets]).
//
// The cost: placing pods takes a step for each of their groups, an answer as well, and one for each domain of a spread. A node has counters
// only for the groups with pods on it. A copy of a state shares the counters of nodes until they change.
package topology
