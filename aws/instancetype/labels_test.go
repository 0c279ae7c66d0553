package instancetype_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// absent is how stated prints a label that a type states not to have.
const absent = "(absent)"

// stated is what a set says about a key: its values, absent, or nothing at all.
func stated(set requirements.Set, key string) string {
	switch r := set.Get(key); {
	case !set.Has(key):
		return "(not stated)"
	case r.Operator() == requirements.OpDoesNotExist:
		return absent
	case r.Operator() == requirements.OpIn:
		return strings.Join(r.Values(), ",")
	default:
		return r.String()
	}
}

func TestLabels(t *testing.T) {
	const prefix = "karpenter.k8s.aws/"
	types := resolve(t, embedded(t), instancetype.Settings{})
	for _, c := range []struct{ statement, typeName, key, want string }{
		{"AWI-029", "m5.large", "node.kubernetes.io/instance-type", "m5.large"},
		{"AWI-030", "m5.large", "kubernetes.io/arch", "amd64"},
		{"AWI-030", "m6g.medium", "kubernetes.io/arch", "arm64"},
		{"AWI-030", "t1.micro", "kubernetes.io/arch", "amd64"}, // i386 comes first and has no name
		{"AWI-031", "m5.large", "kubernetes.io/os", "linux"},
		{"AWI-032", "m5.large", "topology.kubernetes.io/region", "us-east-1"},
		{"AWI-033", "m5.large", "topology.kubernetes.io/zone", "us-east-1a,us-east-1b,us-east-1c,us-east-1d,us-east-1f"},
		{"AWI-034", "m5.large", "topology.k8s.aws/zone-id", "use1-az1,use1-az2,use1-az4,use1-az5,use1-az6"},
		{"AWI-035", "m5.large", "karpenter.sh/capacity-type", "on-demand,spot"},
		{"AWI-035", "u-6tb1.56xlarge", "karpenter.sh/capacity-type", "on-demand"},
		{"AWI-035", "p5.48xlarge", "karpenter.sh/capacity-type", "on-demand,spot"}, // also sold as capacity blocks
		{"AWI-036", "m5.large", "node.kubernetes.io/windows-build", absent},
		{"AWI-037", "m5.large", prefix + "instance-category", "m"},
		{"AWI-038", "m5.large", prefix + "instance-generation", "5"},
		{"AWI-039", "m5.large", prefix + "instance-family", "m5"},
		{"AWI-040", "m5.large", prefix + "instance-size", "large"},
		{"AWI-040", "c7i.metal-48xl", prefix + "instance-size", "metal-48xl"},
		{"AWI-041", "m5.large", prefix + "instance-capability-flex", "false"},
		{"AWI-041", "m7i-flex.large", prefix + "instance-capability-flex", "true"},
		{"AWI-042", "m5.large", prefix + "instance-cpu", "2"},
		{"AWI-043", "m5.large", prefix + "instance-cpu-manufacturer", "intel"},
		{"AWI-043", "m6a.48xlarge", prefix + "instance-cpu-manufacturer", "amd"},
		{"AWI-043", "m6g.medium", prefix + "instance-cpu-manufacturer", "aws"},
		{"AWI-044", "m5.large", prefix + "instance-cpu-sustained-clock-speed-mhz", "3100"},
		{"AWI-044", "t1.micro", prefix + "instance-cpu-sustained-clock-speed-mhz", "0"},
		{"AWI-045", "m5.large", prefix + "instance-memory", "8192"},
		{"AWI-046", "m5.large", prefix + "instance-ebs-bandwidth", "4750"},
		{"AWI-046", "t1.micro", prefix + "instance-ebs-bandwidth", absent},
		{"AWI-046", "m3.xlarge", prefix + "instance-ebs-bandwidth", absent}, // optimised only when asked for
		{"AWI-047", "m5.large", prefix + "instance-network-bandwidth", "750"},
		{"AWI-047", "p4d.24xlarge", prefix + "instance-network-bandwidth", "400000"},
		{"AWI-060", "m3.xlarge", prefix + "instance-network-bandwidth", absent},
		{"AWI-048", "i3en.metal", prefix + "instance-local-nvme", "60000"},
		{"AWI-048", "m5.large", prefix + "instance-local-nvme", absent},
		{"AWI-048", "c1.medium", prefix + "instance-local-nvme", absent}, // disks, but no NVMe
		{"AWI-049", "g4ad.xlarge", prefix + "instance-gpu-name", "radeon-pro-v520"},
		{"AWI-049", "g4ad.xlarge", prefix + "instance-gpu-manufacturer", "amd"},
		{"AWI-049", "m5.large", prefix + "instance-gpu-name", absent},
		{"AWI-050", "p4d.24xlarge", prefix + "instance-gpu-count", "8"},
		{"AWI-050", "p4d.24xlarge", prefix + "instance-gpu-memory", "40960"},
		{"AWI-050", "g6f.large", prefix + "instance-gpu-count", "0"}, // a part of a GPU is no GPU
		{"AWI-050", "m5.large", prefix + "instance-gpu-count", absent},
		{"AWI-051", "inf2.48xlarge", prefix + "instance-accelerator-name", "inferentia2"},
		{"AWI-051", "inf2.48xlarge", prefix + "instance-accelerator-manufacturer", "aws"},
		{"AWI-051", "inf2.48xlarge", prefix + "instance-accelerator-count", "12"},
		{"AWI-051", "vt1.3xlarge", prefix + "instance-accelerator-name", absent}, // a transcoder
		{"AWI-052", "m5.large", prefix + "instance-hypervisor", "nitro"},
		{"AWI-052", "t2.nano", prefix + "instance-hypervisor", "xen"},
		{"AWI-052", "i3en.metal", prefix + "instance-hypervisor", ""},
		{"AWI-053", "m5.large", prefix + "instance-encryption-in-transit-supported", "false"},
		{"AWI-053", "p4d.24xlarge", prefix + "instance-encryption-in-transit-supported", "true"},
		{"AWI-054", "m5.large", awsv1.LabelNitroSandbox, "false"},
		{"AWI-054", "p4d.24xlarge", awsv1.LabelNitroSandbox, "true"},
		{"AWI-055", "m5.large", prefix + "instance-tenancy", "dedicated,default"},
		{"AWI-056", "m5.large", prefix + "capacity-reservation-id", absent},
		{"AWI-056", "m5.large", prefix + "capacity-reservation-type", absent},
		{"AWI-056", "m5.large", prefix + "capacity-reservation-interruptible", absent},
		{"AWI-057", "m5.large", prefix + "placement-group-id", absent},
		{"AWI-057", "m5.large", prefix + "placement-group-partition", absent},
		{"AWI-058", "c7g.large", prefix + "instance-category", "c"},
		{"AWI-058", "u-6tb1.56xlarge", prefix + "instance-category", "u"},
		{"AWI-058", "u-6tb1.56xlarge", prefix + "instance-generation", "1"},
		{"AWI-058", "u7i-12tb.224xlarge", prefix + "instance-generation", "7"},
		{"AWI-058", "hpc7g.4xlarge", prefix + "instance-category", "hpc"},
		{"AWI-058", "im4gn.large", prefix + "instance-category", "im"},
		{"AWI-058", "x2iedn.xlarge", prefix + "instance-generation", "2"},
		{"AWI-058", "p6-b200.48xlarge", prefix + "instance-generation", "6"},
	} {
		t.Run(c.statement+" "+c.typeName+" "+c.key, func(t *testing.T) {
			it, ok := types[c.typeName]
			if !ok {
				t.Fatalf("%s is not resolved", c.typeName)
			}
			if got := stated(it.Requirements, c.key); got != c.want {
				t.Errorf("is %q, want %q", got, c.want)
			}
		})
	}
}

// invented is a catalogue of one zone with types that EC2 does not have.
func invented(t testing.TB, types ...catalog.Type) *catalog.Catalog {
	t.Helper()
	for i := range types {
		record := &types[i]
		if record.VCPUs == 0 {
			record.VCPUs = 2
		}
		if record.MemoryMiB == 0 {
			record.MemoryMiB = 8192
		}
		if record.Architectures == nil {
			record.Architectures = []string{"x86_64"}
		}
		if record.Network.IPv4PerENI == 0 {
			record.Network.ENIs, record.Network.ENIsDefaultCard, record.Network.IPv4PerENI, record.Network.Cards = 3, 3, 10, 1
		}
		record.Zones, record.UsageClasses, record.OnDemandUSD = []int{0}, []string{"on-demand"}, 0.1
	}
	c, err := catalog.New(catalog.Catalog{Region: "eu-west-1", Zones: []catalog.Zone{{Name: "eu-west-1a"}}, Types: types})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLabelsOfInventedTypes(t *testing.T) {
	device := func(name, maker string) catalog.Accelerator {
		return catalog.Accelerator{Name: name, Manufacturer: maker, Count: 4}
	}
	for _, c := range []struct {
		name   string
		record catalog.Type
		labels map[string]string
	}{
		{"AWI-049 several kinds of GPU", catalog.Type{Name: "g9.large", GPUs: []catalog.GPU{
			{Name: "A", Manufacturer: "NVIDIA", Count: 1}, {Name: "B", Manufacturer: "NVIDIA", Count: 1},
		}}, map[string]string{
			awsv1.LabelInstanceGPUName: absent, awsv1.LabelInstanceGPUManufacturer: absent,
			awsv1.LabelInstanceGPUCount: absent, awsv1.LabelInstanceGPUMemory: absent,
		}},
		{"AWI-049 Gaudi counts as a GPU", catalog.Type{Name: "dl9.large", GPUs: []catalog.GPU{{Name: "Gaudi HL-205", Manufacturer: "Habana", Count: 8}}},
			map[string]string{awsv1.LabelInstanceGPUName: "gaudi-hl-205", awsv1.LabelInstanceGPUManufacturer: "habana", awsv1.LabelInstanceGPUCount: "8"}},
		{"AWI-028 wording that is no label value", catalog.Type{Name: "g9.large", GPUs: []catalog.GPU{{Name: "RTX+ Server (Half)", Manufacturer: "?", Count: 1}}},
			map[string]string{awsv1.LabelInstanceGPUName: "rtx-server-half", awsv1.LabelInstanceGPUManufacturer: absent}},
		{"AWI-051 an inference chip of another make", catalog.Type{Name: "dl9q.large", Accelerators: catalog.Accelerators{
			Inference: []catalog.Accelerator{device("AI 100", "Qualcomm")},
		}}, map[string]string{
			awsv1.LabelInstanceAcceleratorName: "ai-100", awsv1.LabelInstanceAcceleratorManufacturer: "qualcomm", awsv1.LabelInstanceAcceleratorCount: "4",
		}},
		{"AWI-051 Neuron goes before inference chips", catalog.Type{Name: "inf9.large", Accelerators: catalog.Accelerators{
			Neuron: []catalog.Accelerator{device("N", ""), device("M", "")}, Inference: []catalog.Accelerator{device("AI 100", "Qualcomm")},
		}}, map[string]string{awsv1.LabelInstanceAcceleratorName: absent}},
		{"AWI-039 a name with two dots", catalog.Type{Name: "m9.large.x"},
			map[string]string{awsv1.LabelInstanceFamily: absent, awsv1.LabelInstanceSize: absent, awsv1.LabelInstanceCategory: "m"}},
		{"AWI-058 a name without a generation", catalog.Type{Name: "mac-m4.metal"},
			map[string]string{awsv1.LabelInstanceCategory: absent, awsv1.LabelInstanceGeneration: absent, awsv1.LabelInstanceFamily: "mac-m4"}},
		{"AWI-058 memory that is no memory", catalog.Type{Name: "u-6xb1.large"}, map[string]string{awsv1.LabelInstanceCategory: absent}},
		{"AWI-058 a name without a dot", catalog.Type{Name: "m5large"}, map[string]string{awsv1.LabelInstanceCategory: absent, awsv1.LabelInstanceFamily: absent}},
		{"AWI-034 zone without an id", catalog.Type{Name: "m5.large"}, map[string]string{awsv1.LabelTopologyZoneID: absent, corev1.LabelTopologyZone: "eu-west-1a"}},
		{"AWI-030 the first that has a name", catalog.Type{Name: "m5.large", Architectures: []string{"i386", "arm64", "x86_64"}}, map[string]string{corev1.LabelArchStable: "arm64"}},
		{"AWI-044 half a megahertz", catalog.Type{Name: "m5.large", ClockGHz: 2.4995}, map[string]string{awsv1.LabelInstanceCPUSustainedClockSpeedMhz: "2500"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			it := resolve(t, invented(t, c.record), instancetype.Settings{})[c.record.Name]
			if it == nil {
				t.Fatal("not resolved")
			}
			for key, want := range c.labels {
				if got := stated(it.Requirements, key); got != want {
					t.Errorf("%s is %q, want %q", key, got, want)
				}
			}
		})
	}
}

// AWI-031, AWI-036: Windows runs on amd64 alone, and nodes state its build.
func TestWindowsLabels(t *testing.T) {
	for family, build := range map[awsv1.AMIFamily]string{
		awsv1.AMIFamilyWindows2019: "10.0.17763",
		awsv1.AMIFamilyWindows2022: "10.0.20348",
		awsv1.AMIFamilyWindows2025: "10.0.26100",
	} {
		types := resolve(t, embedded(t), instancetype.Settings{AMIFamily: family})
		if got := stated(types["m5.large"].Requirements, corev1.LabelOSStable); got != "windows" {
			t.Errorf("%s: operating system is %q", family, got)
		}
		if got := stated(types["m5.large"].Requirements, corev1.LabelWindowsBuild); got != build {
			t.Errorf("%s: build is %q, want %q", family, got, build)
		}
		if _, ok := types["m6g.medium"]; ok {
			t.Errorf("%s: arm64 type is listed", family)
		}
	}
}

// AWI-011: no Mac, no paravirtual-only type.
func TestTypesThatAreNoNodes(t *testing.T) {
	for name := range resolve(t, embedded(t), instancetype.Settings{}) {
		if strings.HasPrefix(name, "mac") {
			t.Errorf("%s is listed", name)
		}
	}
	c := invented(t,
		catalog.Type{Name: "old.large", VirtualizationTypes: []string{"paravirtual"}},
		catalog.Type{Name: "both.large", VirtualizationTypes: []string{"hvm", "paravirtual"}},
		catalog.Type{Name: "apple.metal", Architectures: []string{"arm64_mac"}},
	)
	types := resolve(t, c, instancetype.Settings{})
	if _, ok := types["both.large"]; !ok || len(types) != 1 {
		t.Errorf("listed are %v", types)
	}
}
