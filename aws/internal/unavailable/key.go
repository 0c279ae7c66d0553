package unavailable

import (
	"cmp"
	"fmt"
	"strings"
)

// Key identifies an offering as launches do: by capacity type, instance type and zone, and in a placement group also by group and
// partition. A key without capacity type and instance type means all instances of a group in the zone. It is comparable.
type Key struct {
	// CapacityType is "on-demand" or "spot".
	CapacityType string
	// InstanceType such as "m5.large".
	InstanceType string
	// Zone is the zone's name.
	Zone string
	// GroupID is the placement group that the launch was for; empty outside of groups.
	GroupID string
	// Partition of that group, from 1; 0 if the launch named none.
	Partition int32
}

// String returns "capacityType:type:zone", followed by the group and the partition if there are any.
func (k Key) String() string {
	s := k.CapacityType + ":" + k.InstanceType + ":" + k.Zone
	if k.GroupID != "" {
		s += ":" + k.GroupID
	}
	if k.Partition != 0 {
		s += fmt.Sprintf(":%d", k.Partition)
	}
	return s
}

// Compare orders keys by capacity type, instance type, zone, group and partition.
func (k Key) Compare(o Key) int {
	return cmp.Or(
		strings.Compare(k.CapacityType, o.CapacityType),
		strings.Compare(k.InstanceType, o.InstanceType),
		strings.Compare(k.Zone, o.Zone),
		strings.Compare(k.GroupID, o.GroupID),
		cmp.Compare(k.Partition, o.Partition),
	)
}

// Volume identifies a type of EBS volume in a zone; EC2 may have no such volumes left for any instance type.
type Volume struct {
	// Zone is the zone's name.
	Zone string
	// Type such as "gp3".
	Type string
}

// Quota identifies an account's limit on running vCPUs for a class of instance types.
type Quota struct {
	// CapacityType is "on-demand" or "spot": each has its own limit.
	CapacityType string
	// Class of the types, from QuotaClass.
	Class string
}

// QuotaClass returns the class of types that share an EC2 vCPU quota: "standard" for the A, C, D, H, I, M, R, T and Z families, "g" for G
// and VT together, "u" for the high-memory types, and the family's own letters for the others: "f", "p", "x", "dl", "inf", "trn", "hpc".
// Source: the quotas of "Running On-Demand … instances" in the EC2 user guide. It is empty if the name is not an instance type's.
func QuotaClass(instanceType string) string {
	letters := strings.IndexFunc(instanceType, func(r rune) bool { return r < 'a' || r > 'z' })
	if letters <= 0 {
		return ""
	}
	switch family := instanceType[:letters]; family {
	case "a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z":
		return "standard"
	case "g", "gr", "vt":
		return "g"
	default:
		return family
	}
}
