package instancetype_test

import (
	"testing"

	"github.com/drawknife/drawknife/aws/instancetype"
)

// AWN-350, OPP-09: pods by the way they get their addresses.
func TestPodDensity(t *testing.T) {
	prefixes := instancetype.VPCCNI{PrefixDelegation: true}
	c := embedded(t)
	for _, test := range []struct {
		name     string
		settings instancetype.Settings
		typeName string
		pods     string
		reserved string // memory for daemons
	}{
		{"OPP-09 AWI-071 by default secondary addresses", instancetype.Settings{}, "m5.large", "29", "574Mi"},
		{"OPP-09 secondary addresses", instancetype.Settings{PodDensity: instancetype.VPCCNI{}}, "m5.large", "29", "574Mi"},
		{"OPP-09 prefixes on a small instance", instancetype.Settings{PodDensity: prefixes}, "m5.large", "110", "574Mi"},
		{"OPP-09 prefixes on a large instance", instancetype.Settings{PodDensity: prefixes}, "m5.24xlarge", "250", "8362Mi"},
		{"OPP-09 the bound is for more than 30 vCPUs", instancetype.Settings{PodDensity: prefixes}, "m5.8xlarge", "250", "2829Mi"},
		{"OPP-09 prefixes where addresses are few", instancetype.Settings{PodDensity: prefixes}, "t3.nano", "34", "299Mi"},
		{"OPP-09 no prefixes without Nitro", instancetype.Settings{PodDensity: prefixes}, "t2.large", "35", "640Mi"},
		{"OPP-09 prefixes on bare metal", instancetype.Settings{PodDensity: prefixes}, "m5.metal", "250", "8362Mi"},
		{"OPP-09 custom networking", instancetype.Settings{PodDensity: instancetype.VPCCNI{CustomNetworking: true}}, "m5.large", "20", "574Mi"},
		{"OPP-09 custom networking with prefixes", instancetype.Settings{PodDensity: instancetype.VPCCNI{CustomNetworking: true, PrefixDelegation: true}}, "t3.nano", "18", "299Mi"},
		{"OPP-09 AWI-071 reserved interfaces", instancetype.Settings{PodDensity: prefixes, ReservedENIs: 1}, "t3.nano", "18", "299Mi"},
		{"OPP-09 IPv6", instancetype.Settings{PodDensity: instancetype.VPCCNI{IPv6: true}}, "t3.micro", "110", "299Mi"},
		{"OPP-09 a network without a limit", instancetype.Settings{PodDensity: instancetype.FixedDensity(110)}, "m5.24xlarge", "110", "1465Mi"},
		{"OPP-09 AWI-070 maxPods wins", instancetype.Settings{PodDensity: prefixes, Kubelet: instancetype.Kubelet{MaxPods: ptr(int32(58))}}, "m5.large", "58", "574Mi"},
		{"OPP-09 AWI-072 Bottlerocket reserves for the pods it runs", instancetype.Settings{PodDensity: prefixes, AMIFamily: "Bottlerocket"}, "m5.large", "110", "1465Mi"},
		{"OPP-09 AWI-072 Windows has a limit of its own", instancetype.Settings{PodDensity: prefixes, AMIFamily: "Windows2022"}, "m5.24xlarge", "110", "1465Mi"},
	} {
		t.Run(test.name, func(t *testing.T) {
			it, ok := resolve(t, c, test.settings)[test.typeName]
			if !ok {
				t.Fatalf("%s is not resolved", test.typeName)
			}
			if got := quantity(it.Capacity, "pods"); got != test.pods {
				t.Errorf("has room for %s pods, want %s", got, test.pods)
			}
			if got := quantity(it.Overhead.KubeReserved, "memory"); got != test.reserved {
				t.Errorf("reserves %s of memory, want %s", got, test.reserved)
			}
		})
	}
}

// Types without an interface left for pods have room for none, and are left out.
func TestDensityWithoutInterfaces(t *testing.T) {
	types := resolve(t, embedded(t), instancetype.Settings{PodDensity: instancetype.VPCCNI{CustomNetworking: true}, ReservedENIs: 2})
	if _, ok := types["m5.large"]; ok {
		t.Error("m5.large is listed with no interface left")
	}
}

// Settings that differ only in how pods get addresses don't share instance types.
func TestKeyTellsDensitiesApart(t *testing.T) {
	seen := map[string]instancetype.PodDensity{}
	for _, d := range []instancetype.PodDensity{
		nil, instancetype.VPCCNI{}, instancetype.VPCCNI{PrefixDelegation: true}, instancetype.VPCCNI{CustomNetworking: true},
		instancetype.VPCCNI{IPv6: true}, instancetype.FixedDensity(110), instancetype.FixedDensity(250),
	} {
		key := instancetype.Settings{PodDensity: d}.Key()
		if other, twice := seen[key]; twice {
			t.Errorf("%v and %v have the same key", d, other)
		}
		seen[key] = d
	}
}
