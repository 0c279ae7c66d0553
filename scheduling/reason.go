package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// ReasonCode says at which check a pod was refused. Codes are stable.
type ReasonCode string

const (
	// ReasonPodInvalid: the pod itself can't be planned; Detail says why.
	ReasonPodInvalid ReasonCode = "PodInvalid"
	// ReasonNoNodePools: the snapshot has no pool that could launch a node; Nodes tells why none of those there are
	// takes the pod.
	ReasonNoNodePools ReasonCode = "NoNodePools"
	// ReasonOptedOut: the pod asks for nodes that no pool made, which its owner means as they say: nothing is amiss that a
	// pool could mend. Nodes tells why none of those there are takes it.
	ReasonOptedOut ReasonCode = "OptedOut"
	// ReasonNodePoolNotReady: the pool may not launch nodes; Detail says why.
	ReasonNodePoolNotReady ReasonCode = "NodePoolNotReady"
	// ReasonNoInstanceTypes: the pool's own requirements leave none of its instance types.
	ReasonNoInstanceTypes ReasonCode = "NoInstanceTypes"
	// ReasonTaint: the pod does not tolerate Taint.
	ReasonTaint ReasonCode = "TaintNotTolerated"
	// ReasonRequirements: the pod's requirements and the pool's exclude each other at Key.
	ReasonRequirements ReasonCode = "IncompatibleRequirements"
	// ReasonVolumes: the pod's volumes can be used only where the pool has no instance type for it; Detail names the places.
	ReasonVolumes ReasonCode = "VolumeTopology"
	// ReasonInstanceTypes: each instance type fails the pod's requirements, its resources or the offerings; Removed
	// tells how many by which.
	ReasonInstanceTypes ReasonCode = "NoInstanceTypeFits"
	// ReasonLimits: the pool's limits leave no room; Detail names the resource.
	ReasonLimits ReasonCode = "LimitsExceeded"
	// ReasonReservation: instance types that would do draw on a reservation, and none has an instance left; or the pod has to
	// wait for one (ReservedStrict).
	ReasonReservation ReasonCode = "NoReservationLeft"
	// ReasonMinValues: the instance types that would do are less varied than the pool's minValues ask for.
	ReasonMinValues ReasonCode = "MinValuesNotMet"
	// ReasonTopology: instance types that would do are kept out by topology rules; Rules says by which.
	ReasonTopology ReasonCode = "TopologyRefused"
	// ReasonHostPorts: on instance types that would do, a DaemonSet has the pod's host port; Rules says which.
	ReasonHostPorts ReasonCode = "HostPortTaken"
	// ReasonNotPlaced: an instance type of the pool would do for one pod alone, but the plan has none for it.
	ReasonNotPlaced ReasonCode = "NotPlaced"
)

// Removed counts instance types of a pool by the first check that ruled them out for a pod, in the order of the fields.
// Where several ways to have a type were looked at, the one that came furthest counts.
type Removed struct {
	// Requirements: the type's labels don't meet the pod's, its volumes' and the pool's requirements.
	Requirements int `json:"requirements,omitempty"`
	// Resources: an empty node of the type is too small.
	Resources int `json:"resources,omitempty"`
	// Offering: no available offering meets the requirements.
	Offering int `json:"offering,omitempty"`
	// Limits: launching the type would exceed the pool's limits.
	Limits int `json:"limits,omitempty"`
	// Reservation: its offerings draw on reservations that have no instance left, or the pod waits for a reservation.
	Reservation int `json:"reservation,omitempty"`
	// MinValues: with it, the types left would be less varied than the pool's minValues ask for.
	MinValues int `json:"minValues,omitempty"`
	// Topology: topology rules or host ports keep the pod off it.
	Topology int `json:"topology,omitempty"`
}

// RemovedNodes counts nodes of the snapshot by the first check that ruled them out for a pod, in the order of the
// fields after Total.
type RemovedNodes struct {
	// Total is how many nodes were looked at.
	Total int `json:"total"`
	// Unavailable: the node takes no pods: it is leaving, hidden, or holds more than it has room for.
	Unavailable int `json:"unavailable,omitempty"`
	// Taints: the pod does not tolerate one.
	Taints int `json:"taints,omitempty"`
	// Requirements: the labels don't meet the pod's requirements.
	Requirements int `json:"requirements,omitempty"`
	// Volumes: the pod's volumes can't be used there.
	Volumes int `json:"volumes,omitempty"`
	// Resources: what is free is too little.
	Resources int `json:"resources,omitempty"`
	// Topology: topology rules or host ports keep the pod off.
	Topology int `json:"topology,omitempty"`
}

// Reason is why a pod has no place in one NodePool: a code and its operands. String makes the sentence.
type Reason struct {
	// Pool the reason is about; zero when it is about the pod alone.
	Pool v1.PoolKey `json:"pool,omitzero"`
	Code ReasonCode `json:"code"`
	// Taint that is not tolerated, with ReasonTaint.
	Taint *corev1.Taint `json:"taint,omitempty"`
	// Key of the label where the requirements exclude each other, with ReasonRequirements.
	Key string `json:"key,omitempty"`
	// Requests of the pod with the DaemonSets' overhead left out, with ReasonInstanceTypes. Volumes it attaches stand
	// under "attachable-volumes-csi-<driver>".
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// Removed counts the pool's types by check, with ReasonInstanceTypes and the codes that follow it.
	Removed Removed `json:"removed,omitzero"`
	// Rules that keep the pod out, in words, with ReasonTopology and ReasonHostPorts.
	Rules []string `json:"rules,omitempty"`
	// Nodes counts the nodes there are by check, with ReasonNoNodePools and ReasonOptedOut.
	Nodes *RemovedNodes `json:"nodes,omitempty"`
	// Detail is the rest of the sentence where operands don't make one.
	Detail string `json:"detail,omitempty"`
	// NearestMiss is the least that would have to be different for the pod to have a place in the pool, or with
	// ReasonNoNodePools and ReasonOptedOut on a node there is; nil when no single change would do. It is no part of String.
	NearestMiss *NearestMiss `json:"nearestMiss,omitempty"`
}

// String is a sentence for operators, without the pod's name.
func (r Reason) String() string {
	if r.Pool.IsZero() {
		return r.sentence()
	}
	return fmt.Sprintf("incompatible with nodepool %q, %s", r.Pool, r.sentence())
}

func (r Reason) sentence() string {
	switch r.Code {
	case ReasonTaint:
		if r.Taint != nil {
			return "did not tolerate " + TaintString(*r.Taint)
		}
	case ReasonNoNodePools:
		return "there is no nodepool to launch nodes from" + r.Nodes.sentence()
	case ReasonOptedOut:
		return "it asks for nodes that no nodepool made" + r.Nodes.sentence()
	case ReasonInstanceTypes:
		return r.instanceTypes()
	case ReasonTopology, ReasonHostPorts:
		return "each node that would hold it is kept out by " + strings.Join(r.Rules, "; and by ")
	}
	return r.Detail
}

// instanceTypes makes the sentence of ReasonInstanceTypes.
func (r Reason) instanceTypes() string {
	var c counts
	c.add(r.Removed.Requirements, "don't meet the requirements")
	c.add(r.Removed.Resources, "are too small for "+requestsString(r.Requests))
	c.add(r.Removed.Offering, "have no available offering that meets the requirements")
	return fmt.Sprintf("no instance type fits: of %d, %s", c.total, strings.Join(c.parts, ", "))
}

func (n *RemovedNodes) sentence() string {
	if n == nil || n.Total == 0 {
		return ""
	}
	var c counts
	c.add(n.Unavailable, "take no pods")
	c.add(n.Taints, "have taints it does not tolerate")
	c.add(n.Requirements, "don't meet the requirements")
	c.add(n.Volumes, "can't have its volumes")
	c.add(n.Resources, "have too little room")
	c.add(n.Topology, "are kept out by topology rules or host ports")
	return fmt.Sprintf(", and of %d existing nodes, %s", n.Total, strings.Join(c.parts, ", "))
}

// counts are the parts of a sentence that counts by check.
type counts struct {
	total int
	parts []string
}

func (c *counts) add(n int, what string) {
	if n > 0 {
		c.total += n
		c.parts = append(c.parts, fmt.Sprintf("%d %s", n, what))
	}
}

// requestsString leaves out that the pod is one, if it asks for anything else.
func requestsString(list corev1.ResourceList) string {
	parts := make([]string, 0, len(list))
	for _, name := range sortedNames(list) {
		if name == corev1.ResourcePods && len(list) > 1 {
			continue
		}
		q := list[name]
		parts = append(parts, string(name)+" "+q.String())
	}
	return strings.Join(parts, ", ")
}

// asked words what the pod and the pool say of a label, which is named once.
func asked(key string, wants needs, allows requirements.Requirement) string {
	short := func(r requirements.Requirement) string { return strings.TrimPrefix(r.String(), key+" ") }
	parts := make([]string, len(wants))
	for i, r := range wants {
		parts[i] = short(r)
	}
	return fmt.Sprintf("key %s: the pod wants %s, the pool allows %s", key, strings.Join(parts, " and "), short(allows))
}

// TaintString writes a taint as "key=value:Effect", the value empty or not.
func TaintString(t corev1.Taint) string {
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
