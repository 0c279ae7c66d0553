package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ReasonCode says at which check a pod was refused. Codes are stable.
type ReasonCode string

const (
	// ReasonPodInvalid: the pod itself can't be planned; Detail says why.
	ReasonPodInvalid ReasonCode = "PodInvalid"
	// ReasonNoNodePools: the snapshot has no pool that could launch a node; Nodes says why none of those there are
	// takes the pod.
	ReasonNoNodePools ReasonCode = "NoNodePools"
	// ReasonOptedOut: the pod asks for nodes that no pool made, which its owner means as they say: nothing is amiss that a
	// pool could mend. Nodes says why none of those there are takes it.
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
	// says how many by which.
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
	// ReasonHostPorts: on instance types that would do, a DaemonSet has the pod's host port; Rules says which and whose.
	ReasonHostPorts ReasonCode = "HostPortTaken"
	// ReasonExistingNodes: none of the nodes there are takes the pod; Nodes says why. It comes after the reasons of the
	// NodePools, when the snapshot has nodes.
	ReasonExistingNodes ReasonCode = "ExistingNodes"
	// ReasonGang: the pod is a member of a gang that has no place as a whole; Detail says which and why.
	ReasonGang ReasonCode = "GangNotPlaced"
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

// Reason is why a pod has no place in one NodePool, or on the nodes there are: a code and its operands. String makes the
// sentence.
type Reason struct {
	// Pool the reason is about; zero when it is about the pod alone, or about existing nodes.
	Pool v1.PoolKey `json:"pool,omitzero"`
	Code ReasonCode `json:"code"`
	// Taint that is not tolerated, with ReasonTaint. Further ones stand in Also. Where the pod itself tolerates it, Detail says who does not.
	Taint *corev1.Taint `json:"taint,omitempty"`
	// Key of the label where the requirements exclude each other, with ReasonRequirements.
	Key string `json:"key,omitempty"`
	// Requests of the pod with the DaemonSets' overhead left out, with ReasonInstanceTypes. Volumes it attaches stand
	// under "attachable-volumes-csi-<driver>".
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// Removed counts the pool's types by check, with ReasonInstanceTypes and the codes that follow it.
	Removed Removed `json:"removed,omitzero"`
	// Rules that keep the pod out, with ReasonTopology and ReasonHostPorts.
	Rules []Rule `json:"rules,omitempty"`
	// MinValues that are not met, with ReasonMinValues.
	MinValues []MinValuesShortfall `json:"minValues,omitempty"`
	// Nodes counts the nodes there are by check, with ReasonExistingNodes, ReasonNoNodePools and ReasonOptedOut.
	Nodes *RemovedNodes `json:"nodes,omitempty"`
	// Unknown are names that the pod asks for and that nothing has, at most four: most often misspellings.
	Unknown []Unknown `json:"unknown,omitempty"`
	// NotKnown are resources that the pod asks for and of which nobody knows how many some of the pool's types have, with
	// ReasonInstanceTypes: these types count as having none.
	NotKnown []NotKnown `json:"notKnown,omitempty"`
	// Devices says what the instance type that comes closest to the pod's claims of devices lacks, with ReasonInstanceTypes; empty where
	// devices are not what is missing.
	Devices string `json:"devices,omitempty"`
	// Detail is the rest of the sentence where operands don't make one.
	Detail string `json:"detail,omitempty"`
	// Also are further reasons that hold for the same pool even without this one, at most four: other taints, or an
	// architecture that the pool excludes and a taint as well. Other than taints they are looked for when no single change would help.
	// They bear neither Pool nor NearestMiss.
	Also []Reason `json:"also,omitempty"`
	// NearestMiss is the least that would have to be different for the pod to have a place in the pool, or with
	// ReasonExistingNodes, ReasonNoNodePools and ReasonOptedOut on a node there is; nil when neither a single change nor
	// two of those that are looked for would do. It is no part of String.
	NearestMiss *NearestMiss `json:"nearestMiss,omitempty"`
}

// MinValuesShortfall is a minValues of a NodePool that the instance types which would do don't meet.
type MinValuesShortfall struct {
	// Key of the label, how many values of it are Asked for, and how many are Found at most.
	Key   string `json:"key"`
	Asked int    `json:"asked"`
	Found int    `json:"found"`
}

// NotKnown is a resource of which it is not known how many some instance types have.
type NotKnown struct {
	Resource corev1.ResourceName `json:"resource"`
	// Types is how many of the pool's types that concerns.
	Types int `json:"types"`
}

// String is a sentence for operators, without the pod's name.
func (r Reason) String() string {
	if r.Pool.IsZero() {
		return r.sentence()
	}
	return fmt.Sprintf("incompatible with nodepool %q, %s", r.Pool, r.sentence())
}

func (r Reason) sentence() string {
	text, last := r.main(), r.Code
	for i := range r.Also {
		other := &r.Also[i]
		if other.Code == ReasonTaint && last == ReasonTaint && other.Taint != nil {
			text += " and " + TaintString(*other.Taint)
		} else {
			text += "; also " + other.sentence()
		}
		last = other.Code
	}
	return text
}

// main is the sentence without what stands in Also.
func (r Reason) main() string {
	switch r.Code {
	case ReasonTaint:
		if r.Taint != nil {
			return strings.TrimPrefix(r.Detail+" ", " ") + "did not tolerate " + TaintString(*r.Taint)
		}
	case ReasonNoNodePools:
		return joined("there is no nodepool to launch nodes from", ", and ", r.Nodes.sentence()) + r.hints("node")
	case ReasonOptedOut:
		return joined("it asks for nodes that no nodepool made", ", and ", r.Nodes.sentence()) + r.hints("node")
	case ReasonExistingNodes:
		return "no existing node takes it: " + r.Nodes.sentence()
	case ReasonInstanceTypes:
		return r.instanceTypes()
	case ReasonTopology, ReasonHostPorts:
		return "each node that would hold it is kept out by " + rulesString(r.Rules, "; and by ")
	case ReasonMinValues:
		if len(r.MinValues) > 0 {
			return "the instance types that would do are less varied than its minValues ask for: " + r.shortfalls()
		}
	}
	return r.Detail + r.hints("instance type")
}

// joined is both texts with what stands between them; the first alone if the second is empty.
func joined(a, between, b string) string {
	if b == "" {
		return a
	}
	return a + between + b
}

// hints say of unknown names what may have been meant; who could have what is unknown. Of a label that Detail names no more
// than that is said.
func (r Reason) hints(who string) string {
	text := ""
	for _, u := range r.Unknown {
		if u.Kind == UnknownLabel && u.Name == r.Key {
			text += joined("", "; ", u.hint())
			continue
		}
		text += "; " + u.text(who)
	}
	return text
}

func (r Reason) shortfalls() string {
	parts := make([]string, len(r.MinValues))
	for i, v := range r.MinValues {
		parts[i] = fmt.Sprintf("%d values of %s, and there are %d", v.Asked, v.Key, v.Found)
		if v.Found == 1 {
			parts[i] = fmt.Sprintf("%d values of %s, and there is 1", v.Asked, v.Key)
		}
	}
	return strings.Join(parts, "; ")
}

// instanceTypes makes the sentence of ReasonInstanceTypes.
func (r Reason) instanceTypes() string {
	var c counts
	c.add(r.Removed.Requirements, "don't meet the requirements")
	small := "are too small for " + requestsString(r.Requests)
	if r.Devices != "" {
		small += " and the devices that it claims"
	}
	c.add(r.Removed.Resources, small)
	c.add(r.Removed.Offering, "have no available offering that meets the requirements")
	first := "no instance type fits"
	if len(r.Unknown) > 0 {
		texts := make([]string, len(r.Unknown))
		for i, u := range r.Unknown {
			texts[i] = u.String()
		}
		first = strings.Join(texts, "; ")
	}
	text := fmt.Sprintf("%s: of %d, %s", first, c.total, strings.Join(c.parts, ", "))
	if r.Devices != "" {
		text += "; " + r.Devices
	}
	for _, n := range r.NotKnown {
		text += fmt.Sprintf("; how much %s is not known of %d types, which count as having none", n.Resource, n.Types)
	}
	return text
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
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if name == corev1.ResourcePods && len(list) > 1 {
			continue
		}
		q := list[name]
		parts = append(parts, string(name)+" "+q.String())
	}
	return strings.Join(parts, ", ")
}

// TaintString writes a taint as "key=value:Effect", the value empty or not.
func TaintString(t corev1.Taint) string {
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
