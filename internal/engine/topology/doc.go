// Package topology counts pods in domains and decides where rules about these counts allow one more pod.
//
// The question: do the topology spread constraints, pod affinities and anti-affinities, host ports and disks of all pods allow a pod on
// this node? A domain is the set of all nodes with the same value of a label, or a single node. The package's answers must agree with
// kube-scheduler, whose plugins PodTopologySpread, InterPodAffinity, NodePorts and VolumeRestrictions finally decide.
//
// The input is pods, whose rules [Index] reads. Each distinct rule is a [Group]. A pod has [Groups]: the groups whose rules it states, and
// the groups that count it. The output is the answers of a [State], which knows the pods of each node: [State.Admits] for one node,
// [State.AdmitsDomains] for domains larger than a node, [State.SkewAfter] and [State.Emptiest] for spreads.
//
// The method: groups, domains and nodes have small numbers, so a state consists of arrays of counters. [State.Place] adds any number of
// pods to these counters, and removes pods if the number is negative. The rules of one workload's pods are read only once
// ([Index.Remember]), and a new rule is compared with distinct label sets, not with pods ([LabelSets]).
//
// The cost: placing pods takes one step for each of the pods' groups. An answer takes one step for each of the pod's groups, plus one step
// for each domain of a spread. A node has counters only for groups that have pods on it. A copy of a state shares the counters of nodes
// with the original until they change.
package topology
