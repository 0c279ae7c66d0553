package instancetype_test

import (
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// SCH-106, OPP-7, OPP-21: what a node of the type will have left for pods' volumes.
func TestOPP21VolumeLimits(t *testing.T) {
	c := embedded(t)
	devices := func(names ...string) instancetype.Settings {
		var s instancetype.Settings
		for _, name := range names {
			s.BlockDevices = append(s.BlockDevices, instancetype.BlockDevice{DeviceName: name})
		}
		return s
	}
	custom := devices("/dev/sdf")
	custom.AMIFamily = "Custom"
	rooted := devices("/dev/sda1", "/dev/sdf")
	rooted.AMIFamily = "Custom"
	listed := instancetype.Settings{NetworkInterfaces: make([]instancetype.NetworkInterface, 2)}
	for _, test := range []struct {
		name     string
		settings instancetype.Settings
		typeName string
		want     int32
	}{
		// 27 shared; 24 pods with 9 addresses an interface need all 3 interfaces; root.
		{"shared with interfaces", instancetype.Settings{}, "m5.large", 27 - 2 - 1},
		// 49 addresses an interface: one serves all, one is warm.
		{"shared, many addresses an interface", instancetype.Settings{}, "m5.24xlarge", 27 - 1 - 1},
		{"shared, few addresses an interface", instancetype.Settings{}, "t3.medium", 27 - 2 - 1},
		// EC2 has accounted for the local disks and accelerators already.
		{"shared with local disks", instancetype.Settings{}, "c5d.24xlarge", 23 - 1 - 1},
		{"shared with accelerators", instancetype.Settings{}, "inf1.24xlarge", 11 - 1 - 1},
		{"shared, nearly nothing left", instancetype.Settings{}, "d3en.12xlarge", 1},
		{"shared, reserved interfaces", instancetype.Settings{ReservedENIs: 2}, "m5.24xlarge", 27 - 3 - 1},
		{"shared, listed interfaces", listed, "m5.24xlarge", 27 - 2 - 1},
		{"shared, bare metal", instancetype.Settings{}, "m5.metal", 31 - 1 - 1},
		{"dedicated", instancetype.Settings{}, "m7i.large", 32 - 1},
		{"dedicated, large", instancetype.Settings{}, "m7i.48xlarge", 128 - 1},
		{"dedicated, reserved interfaces don't matter", instancetype.Settings{ReservedENIs: 2}, "m7i.large", 32 - 1},
		{"Xen", instancetype.Settings{}, "m4.large", 39 - 1},
		{"Xen with local NVMe disks", instancetype.Settings{}, "i3.16xlarge", 39 - 1},
		{"Xen with local disks of the old kind", instancetype.Settings{}, "d2.8xlarge", 39 - 1 - 24},
		{"two volumes in the image", instancetype.Settings{AMIFamily: "Bottlerocket"}, "m7i.large", 32 - 2},
		{"Windows", instancetype.Settings{AMIFamily: "Windows2022"}, "m7i.large", 32 - 1},
		{"the class replaces the root", devices("/dev/xvda"), "m7i.large", 32 - 1},
		{"the class adds volumes", devices("/dev/xvda", "/dev/xvdf", "/dev/xvdg"), "m7i.large", 32 - 3},
		{"the class adds a volume and keeps the root", devices("/dev/xvdf"), "m7i.large", 32 - 2},
		{"custom image with a root of its own", custom, "m7i.large", 32 - 2},
		{"custom image whose root is replaced", rooted, "m7i.large", 32 - 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			it, ok := resolve(t, c, test.settings)[test.typeName]
			if !ok {
				t.Fatalf("%s is not resolved", test.typeName)
			}
			if got := it.VolumeLimits; len(got) != 1 || got[instancetype.EBSDriver] != test.want {
				t.Errorf("%s can attach %v, want %d", test.typeName, got, test.want)
			}
		})
	}
}

// A type of which EC2 says nothing gets what the driver takes for it.
func TestOPP21VolumeLimitsOfUnknownTypes(t *testing.T) {
	types := resolve(t, invented(t,
		catalog.Type{Name: "n9.large", Hypervisor: "nitro"},
		catalog.Type{Name: "x9.large", Hypervisor: "xen"},
	), instancetype.Settings{})
	n9, x9 := types["n9.large"].VolumeLimits[instancetype.EBSDriver], types["x9.large"].VolumeLimits[instancetype.EBSDriver]
	if n9 < 20 || n9 > 26 || x9 != 38 {
		t.Errorf("nitro %d, xen %d", n9, x9)
	}
}

// CP-CATALOG-15: every type says how many, at least one and fewer than EC2's maximum, and more interfaces never leave
// room for more volumes.
func TestOPP21EveryTypeHasAVolumeLimit(t *testing.T) {
	c := embedded(t)
	plain, reserved := resolve(t, c, instancetype.Settings{}), resolve(t, c, instancetype.Settings{ReservedENIs: 1})
	for name, it := range plain {
		facts, _ := c.Lookup(name)
		n := it.VolumeLimits[instancetype.EBSDriver]
		if n < 1 || int64(n) >= facts.EBS.MaxAttach {
			t.Errorf("%s: %d of %d", name, n, facts.EBS.MaxAttach)
		}
		if r, ok := reserved[name]; ok && r.VolumeLimits[instancetype.EBSDriver] > n {
			t.Errorf("%s: %d with an interface reserved, %d without", name, r.VolumeLimits[instancetype.EBSDriver], n)
		}
	}
}
