package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ReasonCode is the check at which a pod was refused. Codes are stable.
type ReasonCode string

const (
	// ReasonPodInvalid: the pod itself can't be planned; Detail says why.
	ReasonPodInvalid ReasonCode = "PodInvalid"
	// ReasonNoNodePools: the snapshot has no pool that could launch a node; Nodes says why no existing node can take the pod.
	ReasonNoNodePools ReasonCode = "NoNodePools"
	// ReasonOptedOut: the pod asks for nodes without a pool. This is assumed to be its owner's intention, so no pool is at fault. Nodes
	// says why no existing node can take the pod.
	ReasonOptedOut ReasonCode = "OptedOut"
	// ReasonNodePoolNotReady: the pool may not launch nodes; Detail says why.
	ReasonNodePoolNotReady ReasonCode = "NodePoolNotReady"
	// ReasonNoInstanceTypes: the pool's own requirements leave none of its instance types.
	ReasonNoInstanceTypes ReasonCode = "NoInstanceTypes"
	// ReasonTaint: the pod does not tolerate Taint.
	ReasonTaint ReasonCode = "TaintNotTolerated"
	// ReasonRequirements: the pod's requirement on label Key contradicts the pool's requirement on it.
	ReasonRequirements ReasonCode = "IncompatibleRequirements"
	// ReasonVolumes: the pool has no instance type for the pod in the places where the pod's volumes can be used; Detail names the places.
	ReasonVolumes ReasonCode = "VolumeTopology"
	// ReasonInstanceTypes: each instance type fails the pod's requirements, its resources or the offerings; Removed
	// counts the types by check.
	ReasonInstanceTypes ReasonCode = "NoInstanceTypeFits"
	// ReasonLimits: the pool's limits leave no room; Detail names the resource.
	ReasonLimits ReasonCode = "LimitsExceeded"
	// ReasonReservation: suitable instance types use reservations, and no reservation has an instance left, or the pod must wait for a
	// reservation (ReservedStrict).
	ReasonReservation ReasonCode = "NoReservationLeft"
	// ReasonMinValues: the suitable instance types have less variety than the pool's minValues require.
	ReasonMinValues ReasonCode = "MinValuesNotMet"
	// ReasonTopology: topology rules exclude suitable instance types; Rules says which.
	ReasonTopology ReasonCode = "TopologyRefused"
	// ReasonHostPorts: on suitable instance types, a DaemonSet uses the pod's host port; Rules names the port and the DaemonSet.
	ReasonHostPorts ReasonCode = "HostPortTaken"
	// ReasonExistingNodes: no existing node takes the pod; Nodes says why. If the snapshot has nodes, this reason follows the reasons of
	// the NodePools.
	ReasonExistingNodes ReasonCode = "ExistingNodes"
	// ReasonGang: the pod is a member of a gang that can't be placed as a whole; Detail names the gang and the reason.
	ReasonGang ReasonCode = "GangNotPlaced"
	// ReasonSpotLimits: limits of the pod's workload keep it off spot nodes, or off some of them; Detail says which. It comes before the
	// reasons of the NodePools, which assume these limits.
	ReasonSpotLimits ReasonCode = "SpotLimits"
	// ReasonReservationEnds: the pod's run time is known, and reservations end before it would be done; Detail says which. It comes before
	// the reasons of the NodePools, which assume that the pod must not use these reservations.
	ReasonReservationEnds ReasonCode = "ReservationEnds"
	// ReasonNotPlaced: an instance type of the pool would suit the pod alone, but the plan has no node of this type for the pod.
	ReasonNotPlaced ReasonCode = "NotPlaced"
)

// Removed counts instance types of a pool by the first check that ruled them out for a pod, in the order of the fields. If a type has
// several offerings, the offering that passed the most checks is used.
type Removed struct {
	// Requirements: the type's labels don't meet the pod's, its volumes' and the pool's requirements.
	Requirements int `json:"requirements,omitempty"`
	// Resources: an empty node of the type is too small.
	Resources int `json:"resources,omitempty"`
	// Offering: no available offering meets the requirements.
	Offering int `json:"offering,omitempty"`
	// Limits: launching the type would exceed the pool's limits.
	Limits int `json:"limits,omitempty"`
	// Reservation: the type's offerings use reservations that have no instance left, or the pod waits for a reservation.
	Reservation int `json:"reservation,omitempty"`
	// MinValues: if the type was used, the remaining types would have less variety than the pool's minValues require.
	MinValues int `json:"minValues,omitempty"`
	// Topology: topology rules or host ports exclude the pod.
	Topology int `json:"topology,omitempty"`
}

// Reason says why a pod can't be placed on a node of one NodePool, or on the existing nodes: a code and its operands. String returns it as
// a sentence.
type Reason struct {
	// Pool of the reason; zero if the reason concerns only the pod, or existing nodes.
	Pool v1.PoolKey `json:"pool,omitzero"`
	Code ReasonCode `json:"code"`
	// Taint that is not tolerated. Set only for the code ReasonTaint. Further taints are in Also. If the pod itself tolerates the taint,
	// Detail names the pod that does not.
	Taint *corev1.Taint `json:"taint,omitempty"`
	// Key of the label for which the requirements contradict each other. Set only for the code ReasonRequirements.
	Key string `json:"key,omitempty"`
	// Requests of the pod without the DaemonSets' overhead. Set only for the code ReasonInstanceTypes. Volumes that the pod attaches are
	// listed as "attachable-volumes-csi-<driver>".
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// Removed counts the pool's types by check. It is set for the code ReasonInstanceTypes and the codes that are listed after it.
	Removed Removed `json:"removed,omitzero"`
	// Rules that exclude the pod. Set only for the codes ReasonTopology and ReasonHostPorts.
	Rules []Rule `json:"rules,omitempty"`
	// MinValues that are not met. Set only for the code ReasonMinValues.
	MinValues []MinValuesShortfall `json:"minValues,omitempty"`
	// Nodes counts the existing nodes by check. It is set only for the codes ReasonExistingNodes, ReasonNoNodePools and ReasonOptedOut.
	Nodes *RemovedNodes `json:"nodes,omitempty"`
	// Unknown are names that the pod asks for and that do not exist, at most four: usually misspellings.
	Unknown []Unknown `json:"unknown,omitempty"`
	// NotKnown are resources that the pod requests and whose amount is unknown for some of the pool's types: the amount of these types is
	// assumed to be 0. It is set only for the code ReasonInstanceTypes.
	NotKnown []NotKnown `json:"notKnown,omitempty"`
	// Devices says what the closest instance type lacks for the pod's device claims; empty if devices are not the cause. It is set only for
	// the code ReasonInstanceTypes.
	Devices string `json:"devices,omitempty"`
	// Detail is the rest of the sentence if the operands are not enough.
	Detail string `json:"detail,omitempty"`
	// Also are further reasons for the same pool that would remain without this one, at most four: other taints, or both an architecture
	// that the pool excludes and a taint. Reasons other than taints are only looked for if no single change would help. They have neither
	// Pool nor NearestMiss.
	Also []Reason `json:"also,omitempty"`
	// NearestMiss is the smallest change after which the pod could be placed on a node of the pool. For the codes ReasonExistingNodes,
	// ReasonNoNodePools and ReasonOptedOut, it is for existing nodes. It is nil if neither a single change nor one of the examined pairs of
	// changes would help. It is not part of String.
	NearestMiss *NearestMiss `json:"nearestMiss,omitempty"`
}

// MinValuesShortfall is one of a NodePool's minValues that the suitable instance types don't meet.
type MinValuesShortfall struct {
	// Key of the label. Asked is the number of its values that minValues require, and Found is the largest number that the suitable types
	// have.
	Key   string `json:"key"`
	Asked int    `json:"asked"`
	Found int    `json:"found"`
}

// NotKnown is a resource whose amount is unknown for some instance types.
type NotKnown struct {
	Resource corev1.ResourceName `json:"resource"`
	// Types is how many of the pool's types have an unknown amount of the resource.
	Types int `json:"types"`
}

// String returns a sentence for operators, without the pod's name.
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

// main returns the sentence of the reason without the part for the field Also.
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

// joined returns both texts with the parameter between in the middle. If the second text is empty, it returns only the first text.
func joined(a, between, b string) string {
	if b == "" {
		return a
	}
	return a + between + b
}

// hints suggests corrections of unknown names. The parameter who says which objects could have such a label or resource, for example
// "instance type". If Detail already names the label, hints returns only the suggestion.
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

// instanceTypes returns the sentence of ReasonInstanceTypes.
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

// counts builds a sentence with a number for each check.
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

// requestsString lists the requests, without the request of 1 of the resource "pods" if there are other requests.
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

// TaintString formats a taint as "key=value:Effect", also if the value is empty.
func TaintString(t corev1.Taint) string {
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}
