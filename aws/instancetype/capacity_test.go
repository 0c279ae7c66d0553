package instancetype_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

func quantity(list corev1.ResourceList, name corev1.ResourceName) string {
	q, ok := list[name]
	if !ok {
		return "(not listed)"
	}
	return q.String()
}

func ptr[T any](v T) *T { return &v }

func TestCapacity(t *testing.T) {
	maxPods := func(n int32) instancetype.Kubelet { return instancetype.Kubelet{MaxPods: &n} }
	perCore := func(n int32) instancetype.Kubelet { return instancetype.Kubelet{PodsPerCore: &n} }
	root := instancetype.BlockDevice{DeviceName: "/dev/xvdz", SizeBytes: 70 << 30, Root: true}
	xvda := instancetype.BlockDevice{DeviceName: "/dev/xvda", SizeBytes: 40 << 30}
	xvdb := instancetype.BlockDevice{DeviceName: "/dev/xvdb", SizeBytes: 50 << 30}
	sizeless := instancetype.BlockDevice{DeviceName: "/dev/xvda"}
	efa := []instancetype.NetworkInterface{{}, {Card: 0, Device: 1, EFAOnly: true}, {Card: 1, Device: 1, EFAOnly: true}}

	c := embedded(t)
	for _, test := range []struct {
		name     string
		settings instancetype.Settings
		typeName string
		resource corev1.ResourceName
		want     string
	}{
		{"AWI-062 vCPUs", instancetype.Settings{}, "m5.large", "cpu", "2"},
		{"AWI-064 AWI-065 memory less overhead, in Mi", instancetype.Settings{}, "m5.large", "memory", "7577Mi"},
		{"AWI-064 memory of Graviton", instancetype.Settings{}, "a1.medium", "memory", "1835Mi"},
		{"AWI-063 another overhead", instancetype.Settings{VMMemoryOverheadPercent: ptr(0.01)}, "m5.large", "memory", "8110Mi"},
		{"AWI-063 no overhead", instancetype.Settings{VMMemoryOverheadPercent: ptr(0.0)}, "m5.large", "memory", "8Gi"},
		{"AWI-066 discovered memory", instancetype.Settings{DiscoveredMemory: map[string]int64{"m5.large": 7900 << 20}}, "m5.large", "memory", "7900Mi"},
		{"AWI-066 of another type", instancetype.Settings{DiscoveredMemory: map[string]int64{"m5.large": 7900 << 20}}, "m5.xlarge", "memory", "15155Mi"},

		{"AWI-068.1 local disks", instancetype.Settings{InstanceStorePolicy: awsv1.InstanceStorePolicyRAID0, BlockDevices: []instancetype.BlockDevice{root}}, "p4d.24xlarge", "ephemeral-storage", "8T"},
		{"AWN-045 local disks of a family that is not set up for them", instancetype.Settings{AMIFamily: "Custom", InstanceStorePolicy: awsv1.InstanceStorePolicyRAID0}, "p4d.24xlarge", "ephemeral-storage", "8T"},
		{"AWN-045 local disks count in decimal gigabytes", instancetype.Settings{InstanceStorePolicy: awsv1.InstanceStorePolicyRAID0}, "m5d.large", "ephemeral-storage", "75G"},
		{"AWI-068.1 without local disks", instancetype.Settings{InstanceStorePolicy: awsv1.InstanceStorePolicyRAID0}, "m5.large", "ephemeral-storage", "20Gi"},
		{"AWI-068.2 root volume", instancetype.Settings{BlockDevices: []instancetype.BlockDevice{xvda, root}}, "m5.large", "ephemeral-storage", "70Gi"},
		{"AWI-068.2 root volume without a size", instancetype.Settings{BlockDevices: []instancetype.BlockDevice{xvda, {DeviceName: "/dev/xvdz", Root: true}}}, "m5.large", "ephemeral-storage", "40Gi"},
		{"AWI-068.3 last volume of a custom image", instancetype.Settings{AMIFamily: "Custom", BlockDevices: []instancetype.BlockDevice{xvda, xvdb}}, "m5.large", "ephemeral-storage", "50Gi"},
		{"AWI-068.3 last volume without a size", instancetype.Settings{AMIFamily: "Custom", BlockDevices: []instancetype.BlockDevice{xvdb, sizeless}}, "m5.large", "ephemeral-storage", "20Gi"},
		{"AWI-068.4 the family's device", instancetype.Settings{BlockDevices: []instancetype.BlockDevice{xvda, xvdb}}, "m5.large", "ephemeral-storage", "40Gi"},
		{"AWI-068.4 the family's device of Bottlerocket", instancetype.Settings{AMIFamily: "Bottlerocket", BlockDevices: []instancetype.BlockDevice{xvda, xvdb}}, "m5.large", "ephemeral-storage", "50Gi"},
		{"AWI-068.5 other volumes alone", instancetype.Settings{BlockDevices: []instancetype.BlockDevice{xvdb}}, "m5.large", "ephemeral-storage", "20Gi"},
		{"AWI-068.5 device without a size", instancetype.Settings{BlockDevices: []instancetype.BlockDevice{sizeless}}, "m5.large", "ephemeral-storage", "20Gi"},
		{"AWI-068.6 custom image without volumes", instancetype.Settings{AMIFamily: "Custom"}, "m5.large", "ephemeral-storage", "20Gi"},
		{"AWI-069 Windows", instancetype.Settings{AMIFamily: "Windows2022"}, "m5.large", "ephemeral-storage", "50Gi"},
		{"AWI-069 Ubuntu is as AL2", instancetype.Settings{AMIFamily: "Ubuntu"}, "m5.large", "ephemeral-storage", "20Gi"},

		{"AWI-070 maxPods", instancetype.Settings{Kubelet: maxPods(250)}, "m5.large", "pods", "250"},
		{"AWI-070 podsPerCore lowers", instancetype.Settings{Kubelet: perCore(10)}, "m5.large", "pods", "20"},
		{"AWI-070 podsPerCore never raises", instancetype.Settings{Kubelet: perCore(100)}, "m5.large", "pods", "29"},
		{"AWI-070 podsPerCore of 0", instancetype.Settings{Kubelet: perCore(0)}, "m5.large", "pods", "29"},
		{"AWI-071 by interfaces", instancetype.Settings{}, "m5.large", "pods", "29"},
		{"AWI-071 the default card alone", instancetype.Settings{}, "p5.48xlarge", "pods", "100"},
		{"AWI-071 reserved interfaces", instancetype.Settings{ReservedENIs: 1}, "m5.large", "pods", "20"},
		{"AWI-071 efa-only interfaces on card 0", instancetype.Settings{NetworkInterfaces: efa}, "p4d.24xlarge", "pods", "688"},
		{"AWI-072 Windows", instancetype.Settings{AMIFamily: "Windows2022"}, "m5.large", "pods", "110"},
		{"AWI-072 Windows with podsPerCore", instancetype.Settings{AMIFamily: "Windows2022", Kubelet: perCore(10)}, "m5.large", "pods", "20"},
		{"AWI-072 Bottlerocket ignores podsPerCore", instancetype.Settings{AMIFamily: "Bottlerocket", Kubelet: perCore(1)}, "m5.large", "pods", "29"},

		{"AWI-073 NVIDIA", instancetype.Settings{}, "p4d.24xlarge", "nvidia.com/gpu", "8"},
		{"AWI-073 a part of a GPU is none", instancetype.Settings{}, "g6f.large", "nvidia.com/gpu", "0"},
		{"AWI-073 a part of a GPU is none", instancetype.Settings{}, "gr6f.4xlarge", "nvidia.com/gpu", "0"},
		{"AWI-073 AMD", instancetype.Settings{}, "g4ad.xlarge", "amd.com/gpu", "1"},
		{"AWI-074 Neuron devices", instancetype.Settings{}, "inf2.48xlarge", "aws.amazon.com/neuron", "12"},
		{"AWI-074 Neuron cores", instancetype.Settings{}, "inf2.48xlarge", "aws.amazon.com/neuroncore", "24"},
		{"AWI-075 EFA", instancetype.Settings{}, "p5.48xlarge", "vpc.amazonaws.com/efa", "32"},
		{"AWI-075 EFA as listed", instancetype.Settings{NetworkInterfaces: efa}, "p5.48xlarge", "vpc.amazonaws.com/efa", "2"},
		{"AWI-075 EFA with an empty list", instancetype.Settings{NetworkInterfaces: []instancetype.NetworkInterface{}}, "p5.48xlarge", "vpc.amazonaws.com/efa", "0"},
		{"AWI-076 branch interfaces", instancetype.Settings{}, "m5.large", "vpc.amazonaws.com/pod-eni", "9"},
		{"AWI-076 branch interfaces that no CNI serves", instancetype.Settings{WithoutPodENI: true}, "m5.large", "vpc.amazonaws.com/pod-eni", "0"},
		{"AWI-076 no trunk", instancetype.Settings{}, "t1.micro", "vpc.amazonaws.com/pod-eni", "0"},
		{"AWI-077 addresses on Windows", instancetype.Settings{AMIFamily: "Windows2022"}, "m5.large", "vpc.amazonaws.com/PrivateIPv4Address", "9"},
		{"AWI-077 on Windows alone", instancetype.Settings{}, "m5.large", "vpc.amazonaws.com/PrivateIPv4Address", "(not listed)"},
		{"AWI-078 zeros are listed", instancetype.Settings{}, "m5.large", "habana.ai/gaudi", "0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			it, ok := resolve(t, c, test.settings)[test.typeName]
			if !ok {
				t.Fatalf("%s is not resolved", test.typeName)
			}
			if got := quantity(it.Capacity, test.resource); got != test.want {
				t.Errorf("%s of %s is %s, want %s", test.resource, test.typeName, got, test.want)
			}
		})
	}
}

func TestCapacityOfInventedTypes(t *testing.T) {
	types := resolve(t, invented(t,
		catalog.Type{Name: "dl9.large", GPUs: []catalog.GPU{{Name: "Gaudi", Manufacturer: "Habana", Count: 3}, {Name: "Gaudi2", Manufacturer: "Habana", Count: 5}}},
		catalog.Type{Name: "inf9.large", Accelerators: catalog.Accelerators{Neuron: []catalog.Accelerator{{Name: "A", Count: 2, CoresPerDevice: 4}, {Name: "B", Count: 3, CoresPerDevice: 1}}}},
	), instancetype.Settings{})
	for _, c := range []struct {
		typeName string
		resource corev1.ResourceName
		want     string
	}{
		{"dl9.large", instancetype.ResourceHabanaGaudi, "8"},    // AWI-073: a sum
		{"inf9.large", instancetype.ResourceNeuron, "5"},        // AWI-074: a sum
		{"inf9.large", instancetype.ResourceNeuronCore, "8"},    // AWI-074: of the first kind
		{"inf9.large", instancetype.ResourcePodENI, "0"},        // AWI-076: unknown is none
		{"inf9.large", corev1.ResourceEphemeralStorage, "20Gi"}, // AWI-068
		{"inf9.large", instancetype.ResourceNVIDIAGPU, "0"},     // AWI-078
	} {
		if got := quantity(types[c.typeName].Capacity, c.resource); got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.typeName, c.resource, got, c.want)
		}
	}
}

// A type that has nothing left for pods is left out: reserving more interfaces than there are leaves no address
// (AWI-071), and reserving more memory than there is no memory.
func TestTypesWithoutRoomAreLeftOut(t *testing.T) {
	c := embedded(t)
	types := resolve(t, c, instancetype.Settings{ReservedENIs: 3})
	if _, ok := types["m5.large"]; ok {
		t.Error("m5.large is listed with no interface left")
	}
	if got := quantity(types["m5.xlarge"].Capacity, corev1.ResourcePods); got != "16" {
		t.Errorf("m5.xlarge has %s pods", got)
	}
	types = resolve(t, c, instancetype.Settings{Kubelet: instancetype.Kubelet{SystemReserved: map[string]string{"memory": "1Gi"}}})
	if _, ok := types["t2.nano"]; ok {
		t.Error("t2.nano is listed with more reserved than it has")
	}
}
