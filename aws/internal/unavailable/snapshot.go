package unavailable

import (
	"maps"
	"slices"
	"time"
)

// Snapshot contains the closed offerings at one time. It never changes; nil is an empty snapshot.
type Snapshot struct {
	from, until   time.Time // until is when the snapshot becomes outdated; zero means never
	keys          map[Key]struct{}
	capacityTypes map[string]struct{}
	subnets       map[string]struct{}
	quotas        map[Quota]int64
	volumes       map[Volume]struct{}
}

// holds reports whether the snapshot is still up to date at that time, if nothing was marked since it was made. If the clock was set back,
// it returns false.
func (s *Snapshot) holds(now time.Time) bool {
	return !now.Before(s.from) && (s.until.IsZero() || now.Before(s.until))
}

// Reasons for which an offering is closed.
const (
	// ReasonOffering: EC2 had no capacity for it.
	ReasonOffering = "out of stock"
	// ReasonGroup: its placement group, or partition, had no room for it.
	ReasonGroup = "out of stock in the placement group"
	// ReasonCapacityType: its capacity type is not available.
	ReasonCapacityType = "capacity type is not available"
	// ReasonSubnets: no subnet of the class has free addresses in its zone.
	ReasonSubnets = "no free addresses in the zone's subnets"
	// ReasonQuota: the vCPU quota of its class of types is used up.
	ReasonQuota = "vCPU quota is used up"
	// ReasonVolumes: EC2 had no capacity for the class's volumes in the zone.
	ReasonVolumes = "no room for the class's volumes in the zone"
)

// Closed reports whether an offering is unavailable, and why. The key has the group and the partition of a launch. A mark closes the
// offering if it is for the type without a group, with this group, or with this group and partition. subnets are the class's subnets in the
// zone: if the list is not empty and no subnet has free addresses, the offering is closed. Quotas and volumes are not checked; see
// QuotaClosed and VolumesClosed.
func (s *Snapshot) Closed(key Key, subnets []string) (reason string, closed bool) {
	if s == nil {
		return "", false
	}
	if len(s.keys) > 0 {
		if reason, closed := s.keyClosed(key); closed {
			return reason, true
		}
	}
	if _, closed := s.capacityTypes[key.CapacityType]; closed {
		return ReasonCapacityType, true
	}
	if len(subnets) > 0 && len(s.subnets) > 0 && s.allWithout(subnets) {
		return ReasonSubnets, true
	}
	return "", false
}

func (s *Snapshot) keyClosed(key Key) (reason string, closed bool) {
	plain := key
	plain.GroupID, plain.Partition = "", 0
	if _, closed := s.keys[plain]; closed {
		return ReasonOffering, true
	}
	if key.GroupID == "" {
		return "", false
	}
	scoped := key
	scoped.Partition = 0
	for _, k := range [...]Key{{Zone: key.Zone, GroupID: key.GroupID}, scoped, key} {
		if _, closed := s.keys[k]; closed {
			return ReasonGroup, true
		}
	}
	return "", false
}

func (s *Snapshot) allWithout(subnets []string) bool {
	return !slices.ContainsFunc(subnets, func(id string) bool {
		_, without := s.subnets[id]
		return !without
	})
}

// QuotaClosed reports whether a quota closes a type with this number of vCPUs: if a type of its class with at most as many vCPUs was
// refused.
func (s *Snapshot) QuotaClosed(capacityType, instanceType string, vcpus int64) bool {
	if s == nil || len(s.quotas) == 0 {
		return false
	}
	from, closed := s.quotas[Quota{CapacityType: capacityType, Class: QuotaClass(instanceType)}]
	return closed && vcpus >= from
}

// VolumesClosed reports whether EC2 had no capacity in the zone for a volume of one of the types.
func (s *Snapshot) VolumesClosed(zone string, types []string) bool {
	if s == nil || len(s.volumes) == 0 {
		return false
	}
	return slices.ContainsFunc(types, func(kind string) bool {
		_, closed := s.volumes[Volume{Zone: zone, Type: kind}]
		return closed
	})
}

// Keys returns the offerings that are closed, sorted; for logs and tests.
func (s *Snapshot) Keys() []Key {
	if s == nil {
		return nil
	}
	return slices.SortedFunc(maps.Keys(s.keys), Key.Compare)
}

// Empty reports whether nothing is closed.
func (s *Snapshot) Empty() bool {
	return s == nil || len(s.keys)+len(s.capacityTypes)+len(s.subnets)+len(s.quotas)+len(s.volumes) == 0
}
