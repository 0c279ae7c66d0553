package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// MissCode says what would have to change. Codes are stable, and listed here from the nearest to the farthest. If several single changes
// would help, the first in this order is reported. Among changes with the same code, the smallest change is reported, then the change with
// the cheapest instance type. An earlier code means less work for people, or a pod closer to what its owner intended.
type MissCode string

const (
	// MissToleration: the pod would have to tolerate Taints.
	MissToleration MissCode = "Toleration"
	// MissLimits: the pool's limits would have to be raised by Amounts.
	MissLimits MissCode = "Limits"
	// MissReservation: Reservation would need one more instance; if none is named, the pod would have to be placed without waiting for a
	// reservation (ReservedFallback).
	MissReservation MissCode = "Reservation"
	// MissMinValues: the pool's minValues would have to be given up (MinValuesBestEffort).
	MissMinValues MissCode = "MinValues"
	// MissTopology: Rule would have to be removed from all pods that have it; if MaxSkew is set, that maxSkew would be enough. If the rule
	// is a host port, this port would have to be free.
	MissTopology MissCode = "Topology"
	// MissLabel: the pod's requirement on label Key would have to allow any one of Values; without Values, the pod must not restrict the
	// label. If the operating system that the pod names (spec.os) is the obstacle, Rule says so: then spec.os would also have to be one of
	// Values.
	MissLabel MissCode = "Label"
	// MissResources: the pod's requests would have to be lower by Amounts. More than 0 of each request would remain.
	MissResources MissCode = "Resources"
	// MissVolumes: the pod's volumes would have to be usable where label Key has any one of Values.
	MissVolumes MissCode = "Volumes"
	// MissNodePool: the pool would have to allow any one of Values for label Key, or state it if instance types don't; without Values, it
	// must not state the label.
	MissNodePool MissCode = "NodePool"
	// MissResourceGivenUp: like MissResources, but the pod would have to request none of the resource.
	MissResourceGivenUp MissCode = "ResourceGivenUp"
	// MissDevices: no device meets the pod's claims. They would have to ask for devices as Rule says.
	MissDevices MissCode = "Devices"
	// MissOffering: the offering of InstanceType would have to be available.
	MissOffering MissCode = "Offering"
)

// NearestMiss is the smallest single change after which one more pod of its kind could be placed, if everything else stays as planned. If
// no single change is enough, it is the nearest of some pairs of changes: a toleration or a label with any other change, and two resources
// of an existing node.
type NearestMiss struct {
	Code MissCode `json:"code"`
	// Taints to tolerate. Taints are set only for the code MissToleration.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Amounts by which limits are too low or requests too high. Volumes are listed as "attachable-volumes-csi-<driver>".
	Amounts corev1.ResourceList `json:"amounts,omitempty"`
	// Reservation, named by the labels of its offerings. Set only for the code MissReservation.
	Reservation string `json:"reservation,omitempty"`
	// Rule in words, and the MaxSkew that would be enough. For the code MissLabel, Rule is "spec.os" or empty. For the code MissDevices, it
	// says what the claims would have to ask for.
	Rule    string `json:"rule,omitempty"`
	MaxSkew int32  `json:"maxSkew,omitempty"`
	// Key of a label, or "field:metadata.name" for a node's name, which matchFields select. Values are at most three values of the label:
	// those of the cheapest instance types, cheapest first.
	Key    string   `json:"key,omitempty"`
	Values []string `json:"values,omitempty"`
	// MoreValues means that other values of the label would help as well.
	MoreValues bool `json:"moreValues,omitempty"`
	// InstanceType of the node that the pod would then get, if no other pod shares it; nil for an existing node.
	InstanceType *InstanceTypeOption `json:"instanceType,omitempty"`
	// Node of the snapshot that the pod would then go on; empty for a planned node.
	Node string `json:"node,omitempty"`
	// Also is a second change that is needed as well. It has no Node, and has an InstanceType only for the code MissOffering. It is nil if
	// one change is enough.
	Also *NearestMiss `json:"also,omitempty"`
}

// String returns a sentence about the pod: "would fit if …".
func (n *NearestMiss) String() string {
	text := "would fit " + n.condition()
	if n.Also != nil {
		text += " and " + strings.TrimPrefix(n.Also.condition(), "if ")
	}
	return text
}

func (n *NearestMiss) condition() string {
	values := strings.Join(n.Values, " or ")
	if n.MoreValues {
		values += " or others"
	}
	switch n.Code {
	case MissToleration:
		parts := make([]string, len(n.Taints))
		for i := range n.Taints {
			parts[i] = TaintString(n.Taints[i])
		}
		return "if it tolerated " + strings.Join(parts, " and ")
	case MissLimits:
		if len(n.Amounts) == 1 {
			return "if limit " + n.amounts("%[1]s were raised by %[2]s")
		}
		return "if limits were raised, " + n.amounts("%[1]s by %[2]s")
	case MissReservation:
		if n.Reservation == "" {
			return "if it did not have to wait for a reservation"
		}
		return "if reservation " + n.Reservation + " had one more instance"
	case MissMinValues:
		return "if the nodepool's minValues were not strict"
	case MissTopology:
		if n.MaxSkew > 0 {
			return fmt.Sprintf("if maxSkew were %d in %s", n.MaxSkew, n.Rule)
		}
		if strings.HasPrefix(n.Rule, PortWords) {
			return "if " + n.Rule + " were free"
		}
		return "without " + n.Rule
	case MissLabel:
		switch {
		case n.Rule != "" && values == "":
			return "if it stated neither " + n.Rule + " nor label " + n.Key
		case n.Rule != "":
			return "if " + n.Rule + " and label " + n.Key + " allowed " + values
		case values == "":
			return "if it asked nothing of " + inWords("label ", n.Key)
		}
		return "if it allowed " + inWords("", n.Key) + " " + values
	case MissResources, MissResourceGivenUp:
		return "if it asked for " + n.amounts("%[2]s less %[1]s")
	case MissVolumes:
		return "if its volumes could be used where " + n.Key + " is " + values
	case MissNodePool:
		if values == "" {
			return "if the nodepool did not state label " + n.Key
		}
		return "if the nodepool allowed " + n.Key + " " + values
	case MissDevices:
		return "if " + n.Rule
	case MissOffering:
		if n.InstanceType != nil {
			return fmt.Sprintf("if %s, %s in %s, were available", n.InstanceType.Name, n.InstanceType.CapacityType, n.InstanceType.Zone)
		}
	}
	return "if " + string(n.Code) + " were different"
}

// amounts returns a text about each amount of the nearest miss. The operands of the parameter format are the resource and the quantity.
func (n *NearestMiss) amounts(format string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.Amounts)) {
		quantity := n.Amounts[name]
		text, number := string(name), quantity.String()
		if driver, ok := strings.CutPrefix(text, AttachedVolumesPrefix); ok {
			text = "attached volumes of " + driver
		}
		if classes := classesCounted(text); classes != nil {
			if strings.HasPrefix(text, DeviceSharesPrefix) {
				number = ""
			}
			text = "devices of class " + strings.Join(classes, " or ")
		}
		if part := strings.TrimSpace(fmt.Sprintf(format, text, number)); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " and ")
}

// inWords returns "field NAME" for a key that names a field of the node. For other keys, it returns the parameter before, followed by the
// key.
func inWords(before, key string) string {
	if field, ok := strings.CutPrefix(key, "field:"); ok {
		return "field " + field
	}
	return before + key
}

// AttachedVolumesPrefix begins the resource names under which explanations and certificates count volumes attached to a node: the name of
// the CSI driver follows.
const AttachedVolumesPrefix = "attachable-volumes-csi-"

// DevicesPrefix begins the resource names under which explanations and certificates count devices that drivers publish. The names of device
// classes follow, joined by "+", and after "#" a number that distinguishes resources of the same classes.
const DevicesPrefix = "devices of "

// DeviceSharesPrefix begins the names of resources that count shares instead of devices. They are used for devices that exclude each other:
// a GPU and its partitions each consume a part of the same counters.
const DeviceSharesPrefix = DevicesPrefix + "shares of "

// classesCounted returns the device classes that the resource counts, or nil for other resources.
func classesCounted(resource string) []string {
	text, ok := strings.CutPrefix(resource, DeviceSharesPrefix)
	if !ok {
		text, ok = strings.CutPrefix(resource, DevicesPrefix)
	}
	if !ok {
		return nil
	}
	text, _, _ = strings.Cut(text, "#")
	return strings.Split(text, "+")
}
