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
	// Partition of the placement group, from 1; 0 if the launch named no partition.
	Partition int32
	// Hardware on which the instances run, because shared and dedicated hardware, and each Dedicated Host, have stocks of their own. The zero
	// value is shared hardware.
	Hardware Hardware
}

// Hardware says whether instances run on shared hardware, on dedicated hardware, on a Dedicated Host or on an Outpost. It is comparable.
type Hardware struct {
	// Tenancy is "dedicated" or "host"; empty for hardware that is shared with other accounts.
	Tenancy string
	// Host is the ID of the Dedicated Host, or the ARN of the host resource group or of the Outpost, that the launch is for; empty if it is
	// for none of these.
	Host string
}

// On returns the hardware on an Outpost. An empty ARN changes nothing.
func (h Hardware) On(outpostARN string) Hardware {
	if outpostARN != "" {
		h.Host = outpostARN
	}
	return h
}

// HardwareOf returns the hardware of a tenancy, one of the Tenancy constants of aws/api/v1 or empty, and of the host or host resource group
// that a node class names. The host is ignored unless the tenancy is "host".
func HardwareOf(tenancy, host string) Hardware {
	switch tenancy {
	case tenancyHost:
		return Hardware{Tenancy: tenancy, Host: host}
	case tenancyDefault:
		return Hardware{}
	}
	return Hardware{Tenancy: tenancy}
}

// The tenancies of EC2 that HardwareOf distinguishes.
const tenancyDefault, tenancyHost = "default", "host"

// String is the tenancy, followed by the host if there is one; empty for shared hardware.
func (h Hardware) String() string {
	if h.Host == "" {
		return h.Tenancy
	}
	return h.Tenancy + "/" + h.Host
}

// String returns "capacityType:type:zone", followed by the group, the partition and the hardware if they are set.
func (k Key) String() string {
	s := k.CapacityType + ":" + k.InstanceType + ":" + k.Zone
	if k.GroupID != "" {
		s += ":" + k.GroupID
	}
	if k.Partition != 0 {
		s += fmt.Sprintf(":%d", k.Partition)
	}
	if k.Hardware != (Hardware{}) {
		s += ":" + k.Hardware.String()
	}
	return s
}

// Compare orders keys by capacity type, instance type, zone, group, partition and hardware.
func (k Key) Compare(o Key) int {
	return cmp.Or(
		strings.Compare(k.CapacityType, o.CapacityType),
		strings.Compare(k.InstanceType, o.InstanceType),
		strings.Compare(k.Zone, o.Zone),
		strings.Compare(k.GroupID, o.GroupID),
		cmp.Compare(k.Partition, o.Partition),
		strings.Compare(k.Hardware.Tenancy, o.Hardware.Tenancy),
		strings.Compare(k.Hardware.Host, o.Hardware.Host),
	)
}

// Volume identifies a type of EBS volume in a zone; EC2 may have no capacity for such volumes, whatever the instance type.
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
// and VT together, "u" for the high-memory types, and for all other families the letters of the family: "f", "p", "x", "dl", "inf", "trn",
// "hpc". Source: the quotas of "Running On-Demand … instances" in the EC2 user guide. It is empty if the name is not an instance type's.
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
