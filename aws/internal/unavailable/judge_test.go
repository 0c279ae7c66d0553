package unavailable_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/internal/unavailable"
)

func TestJudge(t *testing.T) {
	key := func(capacityType string) unavailable.Key {
		return unavailable.Key{CapacityType: capacityType, InstanceType: "c5.4xlarge", Zone: "us-east-1a"}
	}
	failure := func(code, capacityType string) unavailable.Failure {
		return unavailable.Failure{Code: code, CapacityType: capacityType, InstanceType: "c5.4xlarge", Zone: "us-east-1a", SubnetID: "subnet-1"}
	}
	grouped := func(f unavailable.Failure, message string) unavailable.Failure {
		f.GroupID, f.Partition, f.Message = "pg-1", 3, message
		return f
	}
	inGroup := key("spot")
	inGroup.GroupID, inGroup.Partition = "pg-1", 3
	reserved := failure("ReservationCapacityExceeded", "reserved")
	reserved.ReservationID = "cr-1"
	withoutSubnet := failure("InsufficientFreeAddressesInSubnet", "spot")
	withoutSubnet.SubnetID = ""
	standard := func(capacityType string) []unavailable.QuotaHit {
		return []unavailable.QuotaHit{{Quota: unavailable.Quota{CapacityType: capacityType, Class: "standard"}, InstanceType: "c5.4xlarge"}}
	}
	volumes := func(capacityType, message string, types ...string) unavailable.Failure {
		f := failure("InsufficientVolumeCapacity", capacityType)
		f.Message, f.VolumeTypes = message, types
		return f
	}
	for _, test := range []struct {
		name    string
		failure unavailable.Failure
		want    unavailable.Effect
	}{
		{"AWI-101 stock", failure("InsufficientInstanceCapacity", "spot"), unavailable.Effect{Keys: []unavailable.Key{key("spot")}}},
		{"AWI-101 unfulfillable", failure("UnfulfillableCapacity", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}}},
		{"AWI-101 unsupported", failure("Unsupported", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}}},
		{"AWI-101 fleets", failure("MaxFleetCountExceeded", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}}},
		{"AWI-101 AWI-105 spot count", failure("MaxSpotInstanceCountExceeded", "spot"), unavailable.Effect{Keys: []unavailable.Key{key("spot")}, Quotas: standard("spot")}},
		{"AWI-101 AWI-105 OPP-10 vCPU limit", failure("VcpuLimitExceeded", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}, Quotas: standard("on-demand")}},
		{"hosts", failure("InsufficientHostCapacity", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}}},
		{"reserved instances", failure("InsufficientReservedInstanceCapacity", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}}},
		{"capacity of any kind", failure("InsufficientCapacity", "spot"), unavailable.Effect{Keys: []unavailable.Key{key("spot")}}},
		{"an Outpost", failure("InsufficientCapacityOnOutpost", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}}},
		{"volumes", failure("InsufficientVolumeCapacity", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}}},
		{"volumes of a type", volumes("on-demand", "There is no room for this gp3 volume.", "gp3", "io2"), unavailable.Effect{Volumes: []unavailable.Volume{{Zone: "us-east-1a", Type: "gp3"}}}},
		{"volumes of any type", volumes("spot", "", "gp3", "io2"), unavailable.Effect{Volumes: []unavailable.Volume{{Zone: "us-east-1a", Type: "gp3"}, {Zone: "us-east-1a", Type: "io2"}}}},
		{"volumes of a reserved launch", volumes("reserved", "", "gp3"), unavailable.Effect{Volumes: []unavailable.Volume{{Zone: "us-east-1a", Type: "gp3"}}}},
		{"a spot price above the cap", failure("SpotMaxPriceTooLow", "spot"), unavailable.Effect{Keys: []unavailable.Key{key("spot")}}},
		{"instances of a kind", failure("InstanceLimitExceeded", "on-demand"), unavailable.Effect{Keys: []unavailable.Key{key("on-demand")}, Quotas: standard("on-demand")}},
		{"volumes of the account", failure("VolumeLimitExceeded", "on-demand"), unavailable.Effect{}},
		{"AWI-101 a subnet without addresses", failure("InsufficientFreeAddressesInSubnet", "spot"), unavailable.Effect{Subnets: []string{"subnet-1"}}},
		{"AWI-101 some subnet without addresses", withoutSubnet, unavailable.Effect{Keys: []unavailable.Key{key("spot")}}},
		{"AWI-101 subnet of a reserved launch", failure("InsufficientFreeAddressesInSubnet", "reserved"), unavailable.Effect{Subnets: []string{"subnet-1"}}},
		{"AWI-101 group and partition", grouped(failure("InsufficientInstanceCapacity", "spot"), ""), unavailable.Effect{Keys: []unavailable.Key{inGroup}}},
		{"AWI-101 spread group", grouped(failure("InsufficientInstanceCapacity", "spot"), "You have reached the limit of instances in this spread placement group"),
			unavailable.Effect{Keys: []unavailable.Key{{Zone: "us-east-1a", GroupID: "pg-1"}}}},
		{"AWI-101 spread group, reserved", grouped(failure("Whatever", "reserved"), "limit of instances in this spread placement group"),
			unavailable.Effect{Keys: []unavailable.Key{{Zone: "us-east-1a", GroupID: "pg-1"}}}},
		{"AWI-101 the words without a group", unavailable.Failure{Code: "Whatever", Message: "limit of instances in this spread placement group"}, unavailable.Effect{}},
		{"AWI-101 no role for spot", failure("AuthFailure.ServiceLinkedRoleCreationNotPermitted", "spot"), unavailable.Effect{CapacityTypes: []string{"spot"}}},
		{"AWI-101 no role for spot, reserved launch", failure("AuthFailure.ServiceLinkedRoleCreationNotPermitted", "reserved"), unavailable.Effect{}},
		{"AWI-101 reservation", reserved, unavailable.Effect{Reservations: []string{"cr-1"}}},
		{"AWI-103 throttled", failure("RequestLimitExceeded", "spot"), unavailable.Effect{}},
		{"AWI-103 not allowed", failure("UnauthorizedOperation", "spot"), unavailable.Effect{}},
		{"AWI-103 wrong", failure("InvalidParameterValue", "spot"), unavailable.Effect{}},
		{"an error without type and zone", unavailable.Failure{Code: "InsufficientInstanceCapacity", CapacityType: "spot"}, unavailable.Effect{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := unavailable.Judge(test.failure)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Empty() != cmp.Equal(test.want, unavailable.Effect{}) {
				t.Errorf("Empty is %t", got.Empty())
			}
		})
	}
}

// AWI-105, OPP-10: which quota a type counts against.
func TestQuotaClass(t *testing.T) {
	for name, want := range map[string]string{
		"m5.large": "standard", "t3.nano": "standard", "im4gn.large": "standard", "z1d.metal": "standard", "hpc7g.4xlarge": "hpc",
		"g5.xlarge": "g", "gr6f.4xlarge": "g", "vt1.3xlarge": "g", "p5.48xlarge": "p", "p6-b200.48xlarge": "p", "f2.48xlarge": "f",
		"x2iedn.xlarge": "x", "u-6tb1.56xlarge": "u", "u7i-12tb.224xlarge": "u", "inf2.xlarge": "inf", "trn1.2xlarge": "trn", "dl1.24xlarge": "dl",
		"": "", "5m": "", "mac2.metal": "mac",
	} {
		if got := unavailable.QuotaClass(name); got != want {
			t.Errorf("%q counts as %q, want %q", name, got, want)
		}
	}
}
