package unavailable

import (
	"slices"
	"strings"
	"unicode"
)

// Codes of EC2 that say something about capacity.
const (
	codeInsufficientCapacity  = "InsufficientInstanceCapacity"
	codeSpotCount             = "MaxSpotInstanceCountExceeded"
	codeVCPULimit             = "VcpuLimitExceeded"
	codeUnfulfillable         = "UnfulfillableCapacity"
	codeUnsupported           = "Unsupported"
	codeNoAddresses           = "InsufficientFreeAddressesInSubnet"
	codeFleetCount            = "MaxFleetCountExceeded"
	codeReservationCapacity   = "ReservationCapacityExceeded"
	codeHostCapacity          = "InsufficientHostCapacity"
	codeReservedCapacity      = "InsufficientReservedInstanceCapacity"
	codeCapacity              = "InsufficientCapacity"
	codeOutpostCapacity       = "InsufficientCapacityOnOutpost"
	codeVolumeCapacity        = "InsufficientVolumeCapacity"
	codeInstanceLimit         = "InstanceLimitExceeded"
	codeSpotPrice             = "SpotMaxPriceTooLow"
	codeSpotServiceLinkedRole = "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
)

// spreadLimit is a part of EC2's message if a spread placement group has no room: it has at most seven instances per zone, of any type.
const spreadLimit = "limit of instances in this spread placement group"

// Failure is one error of a launch, as EC2 reported it, with the properties of the launch.
type Failure struct {
	// Code and Message as EC2 reported them.
	Code, Message string
	// CapacityType of the launch: "on-demand", "spot" or "reserved".
	CapacityType string
	// InstanceType, Zone and SubnetID of the override that the error concerns. Zone is the name.
	InstanceType, Zone, SubnetID string
	// GroupID and Partition of the launch's placement group; empty and 0 without a group.
	GroupID   string
	Partition int32
	// Hardware that the launch was for.
	Hardware Hardware
	// ReservationID of the override if the launch was reserved.
	ReservationID string
	// VolumeTypes are the types of the launch's EBS volumes, such as "gp3". Empty if they are not known.
	VolumeTypes []string
}

// Effect contains the objects that are unavailable after a failure.
type Effect struct {
	// Keys of offerings without capacity.
	Keys []Key
	// CapacityTypes that are not available.
	CapacityTypes []string
	// Subnets without free addresses.
	Subnets []string
	// Reservations that are full.
	Reservations []string
	// Volumes that are not available.
	Volumes []Volume
	// Quotas are exhausted quotas; each excludes types with at least as many vCPUs as its InstanceType.
	Quotas []QuotaHit
}

// volumes returns the launch's volume types in its zone: the types that EC2 names, or all if it names none.
func (f Failure) volumes() []Volume {
	var all, named []Volume
	for _, kind := range f.VolumeTypes {
		volume := Volume{Zone: f.Zone, Type: kind}
		all = append(all, volume)
		if slices.Contains(strings.FieldsFunc(f.Message, isNoLetterOrDigit), kind) {
			named = append(named, volume)
		}
	}
	if len(named) > 0 {
		return named
	}
	return all
}

func isNoLetterOrDigit(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// QuotaHit is a quota that the launch of an instance type would have exceeded.
type QuotaHit struct {
	Quota
	// InstanceType that was refused.
	InstanceType string
}

// Empty reports whether the failure makes nothing unavailable.
func (e Effect) Empty() bool {
	return len(e.Keys)+len(e.CapacityTypes)+len(e.Subnets)+len(e.Volumes)+len(e.Reservations)+len(e.Quotas) == 0
}

// IsCapacityCode reports whether an error code of EC2 means that capacity is missing, for any reason.
func IsCapacityCode(code string) bool {
	switch code {
	case codeInsufficientCapacity, codeSpotCount, codeVCPULimit, codeUnfulfillable, codeUnsupported, codeNoAddresses,
		codeFleetCount, codeReservationCapacity, codeHostCapacity, codeReservedCapacity, codeCapacity, codeOutpostCapacity, codeVolumeCapacity,
		codeInstanceLimit, codeSpotPrice:
		return true
	}
	return false
}

// Judge returns the objects that are unavailable after a failed launch: offerings, capacity types, subnets, reservations, volumes or
// quotas. The Effect is empty if the code is not about capacity.
func Judge(f Failure) Effect {
	var e Effect
	reserved := f.CapacityType == "reserved"
	switch {
	case f.Code == codeSpotServiceLinkedRole:
		if !reserved {
			e.CapacityTypes = []string{"spot"}
		}
		return e
	case f.GroupID != "" && strings.Contains(f.Message, spreadLimit):
		// The limit applies to all instances of the group in that zone, whatever their instance type and capacity type.
		e.Keys = []Key{{Zone: f.Zone, GroupID: f.GroupID}}
		return e
	case !IsCapacityCode(f.Code):
		return e
	}
	if f.Code == codeNoAddresses && f.SubnetID != "" {
		// EC2 may still have capacity for the type, so node classes with other subnets in that zone can launch it.
		e.Subnets = []string{f.SubnetID}
		return e
	}
	if f.Code == codeVolumeCapacity && f.Zone != "" && len(f.VolumeTypes) > 0 {
		// EC2 may still have capacity for the type: classes with other volume types can launch it in that zone.
		e.Volumes = f.volumes()
		return e
	}
	if reserved {
		if f.ReservationID != "" {
			e.Reservations = []string{f.ReservationID}
		}
		return e
	}
	if f.InstanceType != "" && f.Zone != "" {
		e.Keys = []Key{{
			CapacityType: f.CapacityType, InstanceType: f.InstanceType, Zone: f.Zone, GroupID: f.GroupID, Partition: f.Partition,
			Hardware: f.Hardware,
		}}
	}
	// EC2 counts vCPUs for spot as well; "MaxSpotInstanceCountExceeded" is the older name of that limit. The vCPUs of instances on
	// Dedicated Hosts are not counted: the quota for Dedicated Hosts limits the number of hosts.
	if class := QuotaClass(f.InstanceType); class != "" && f.Hardware.Tenancy != tenancyHost && (f.Code == codeVCPULimit || f.Code == codeSpotCount || f.Code == codeInstanceLimit) {
		e.Quotas = []QuotaHit{{Quota: Quota{CapacityType: f.CapacityType, Class: class}, InstanceType: f.InstanceType}}
	}
	return e
}
