package instancetype_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

func TestOverhead(t *testing.T) {
	kube := func(o cloudprovider.Overhead) corev1.ResourceList { return o.KubeReserved }
	system := func(o cloudprovider.Overhead) corev1.ResourceList { return o.SystemReserved }
	evict := func(o cloudprovider.Overhead) corev1.ResourceList { return o.EvictionThreshold }
	hard := func(signal, value string) instancetype.Settings {
		return instancetype.Settings{Kubelet: instancetype.Kubelet{EvictionHard: map[string]string{signal: value}}}
	}
	own := map[string]string{"cpu": "200m", "memory": "1Gi", "ephemeral-storage": "3Gi", "pid": "1000"}
	efa := []instancetype.NetworkInterface{{}, {Card: 0, Device: 1, EFAOnly: true}}

	c := embedded(t)
	for _, test := range []struct {
		name     string
		settings instancetype.Settings
		typeName string
		part     func(cloudprovider.Overhead) corev1.ResourceList
		resource corev1.ResourceName
		want     string
	}{
		{"AWI-079 1 vCPU", instancetype.Settings{}, "a1.medium", kube, "cpu", "60m"},
		{"AWI-079 2 vCPUs", instancetype.Settings{}, "m5.large", kube, "cpu", "70m"},
		{"AWI-079 4 vCPUs", instancetype.Settings{}, "m5.xlarge", kube, "cpu", "80m"},
		{"AWI-079 8 vCPUs", instancetype.Settings{}, "m5.2xlarge", kube, "cpu", "90m"},
		{"AWI-079 64 vCPUs", instancetype.Settings{}, "m5.16xlarge", kube, "cpu", "230m"},
		{"AWI-079 96 vCPUs", instancetype.Settings{}, "m5.24xlarge", kube, "cpu", "310m"},
		{"AWI-079 192 vCPUs", instancetype.Settings{}, "p5.48xlarge", kube, "cpu", "550m"},

		{"AWI-080 memory by pods", instancetype.Settings{}, "m5.large", kube, "memory", "574Mi"},
		{"AWI-080 whatever maxPods says", instancetype.Settings{Kubelet: instancetype.Kubelet{MaxPods: ptr[int32](110)}}, "m5.large", kube, "memory", "574Mi"},
		{"AWI-080 whatever is reserved of interfaces", instancetype.Settings{ReservedENIs: 1}, "m5.large", kube, "memory", "574Mi"},
		{"AWI-080 less efa-only interfaces", instancetype.Settings{NetworkInterfaces: efa}, "p5.48xlarge", kube, "memory", "816Mi"},
		{"AWI-080 by the pod limit on Bottlerocket", instancetype.Settings{AMIFamily: "Bottlerocket", Kubelet: instancetype.Kubelet{MaxPods: ptr[int32](110)}}, "m5.large", kube, "memory", "1465Mi"},
		{"AWI-080 by the pod limit on Windows", instancetype.Settings{AMIFamily: "Windows2022"}, "m5.large", kube, "memory", "1465Mi"},
		{"AWI-080 ephemeral storage", instancetype.Settings{}, "m5.large", kube, "ephemeral-storage", "1Gi"},
		{"AWI-080 own CPU", instancetype.Settings{Kubelet: instancetype.Kubelet{KubeReserved: own}}, "m5.large", kube, "cpu", "200m"},
		{"AWI-080 own memory", instancetype.Settings{Kubelet: instancetype.Kubelet{KubeReserved: own}}, "m5.large", kube, "memory", "1Gi"},
		{"AWI-080 own storage", instancetype.Settings{Kubelet: instancetype.Kubelet{KubeReserved: own}}, "m5.large", kube, "ephemeral-storage", "3Gi"},
		{"AWI-080 process ids are no resource", instancetype.Settings{Kubelet: instancetype.Kubelet{KubeReserved: own}}, "m5.large", kube, "pid", "(not listed)"},
		{"AWI-080 entry by entry", instancetype.Settings{Kubelet: instancetype.Kubelet{KubeReserved: map[string]string{"cpu": "1"}}}, "m5.large", kube, "memory", "574Mi"},

		{"AWI-081 memory", instancetype.Settings{}, "m5.large", evict, "memory", "100Mi"},
		{"AWI-081 storage", instancetype.Settings{}, "m5.large", evict, "ephemeral-storage", "2Gi"},
		{"AWI-081 own quantity", hard("memory.available", "500Mi"), "m5.large", evict, "memory", "500Mi"},
		{"AWI-081 the other keeps its default", hard("memory.available", "500Mi"), "m5.large", evict, "ephemeral-storage", "2Gi"},
		{"AWI-081 own percentage", hard("memory.available", "10%"), "m5.large", evict, "memory", "794506036"},         // of 7577Mi, rounded up from …035.2
		{"AWI-081 places of a percentage", hard("memory.available", "0.5%"), "m5.large", evict, "memory", "39725302"}, // rounded up from …301.76
		{"AWI-081 0%", hard("memory.available", "0%"), "m5.large", evict, "memory", "0"},
		{"AWI-081 100% means never", hard("memory.available", "100%"), "m5.large", evict, "memory", "0"},
		{"AWI-081 storage by percentage", hard("nodefs.available", "50%"), "m5.large", evict, "ephemeral-storage", "10Gi"},
		{"AWI-081 other signals", hard("nodefs.inodesFree", "50%"), "m5.large", evict, "ephemeral-storage", "2Gi"},
		{"AWI-067 percentage of discovered memory", instancetype.Settings{
			Kubelet:          instancetype.Kubelet{EvictionHard: map[string]string{"memory.available": "50%"}},
			DiscoveredMemory: map[string]int64{"m5.large": 7900 << 20},
		}, "m5.large", evict, "memory", "3950Mi"},

		{"AWI-083 nothing for the system", instancetype.Settings{}, "m5.large", system, "memory", "(not listed)"},
		{"AWI-083 unless it is given", instancetype.Settings{Kubelet: instancetype.Kubelet{SystemReserved: own}}, "m5.large", system, "memory", "1Gi"},
	} {
		t.Run(test.name, func(t *testing.T) {
			it := resolve(t, c, test.settings)[test.typeName]
			if got := quantity(test.part(it.Overhead), test.resource); got != test.want {
				t.Errorf("%s of %s is %s, want %s", test.resource, test.typeName, got, test.want)
			}
		})
	}
}

// AWI-085 and its rows a to i.
func TestWorkedValues(t *testing.T) {
	types := resolve(t, embedded(t), instancetype.Settings{})
	for name, want := range map[string][3]int64{
		"a1.medium":           {940, 1392, 8},
		"t3.large":            {1930, 6837, 35},
		"m5.large":            {1930, 6903, 29},
		"c5.xlarge":           {3920, 6584, 58},
		"m7i.2xlarge":         {7910, 29317, 58},
		"r8g.16xlarge":        {63770, 476445, 737},
		"p5.48xlarge":         {191450, 1938410, 100},
		"t2.nano":             {940, 74, 4},
		"u7in-32tb.224xlarge": {893690, 31033160, 394},
	} {
		if got := allocatable(types[name]); got != want {
			t.Errorf("%s: allocatable is %v, want %v", name, got, want)
		}
	}
	storage := types["m5.large"].Allocatable()[corev1.ResourceEphemeralStorage]
	if got := storage.String(); got != "17Gi" {
		t.Errorf("allocatable storage is %s, want 17Gi", got)
	}
}

func TestSettingsThatCannotBeUsed(t *testing.T) {
	kubelet := func(k instancetype.Kubelet) instancetype.Settings { return instancetype.Settings{Kubelet: k} }
	c := embedded(t)
	for _, test := range []struct {
		settings instancetype.Settings
		want     string
	}{
		{instancetype.Settings{VMMemoryOverheadPercent: ptr(1.0)}, "vmMemoryOverheadPercent: must be a fraction of at least 0 and less than 1, is 1"},
		{instancetype.Settings{VMMemoryOverheadPercent: ptr(-0.1)}, "vmMemoryOverheadPercent: must be a fraction of at least 0 and less than 1, is -0.1"},
		{instancetype.Settings{ReservedENIs: -1}, "reservedENIs: must be at least 0, is -1"},
		{instancetype.Settings{IPPrefixCount: -1}, "ipPrefixCount: must be at least 0, is -1"},
		{instancetype.Settings{InstanceStorePolicy: "RAID1"}, `instanceStorePolicy: must be "RAID0" or absent, is "RAID1"`},
		{instancetype.Settings{BlockDevices: []instancetype.BlockDevice{{SizeBytes: -1}}}, "blockDevices[0].sizeBytes: must be at least 0, is -1"},
		{instancetype.Settings{Zones: []catalog.Zone{{Name: "us-east-1z"}}}, `zones[0]: the catalogue of region "us-east-1" has no zone "us-east-1z", it has us-east-1a, us-east-1b, us-east-1c, us-east-1d, us-east-1e, us-east-1f`},
		{kubelet(instancetype.Kubelet{MaxPods: ptr[int32](-1)}), "kubelet.maxPods: must be at least 0, is -1"},
		{kubelet(instancetype.Kubelet{PodsPerCore: ptr[int32](-1)}), "kubelet.podsPerCore: must be at least 0, is -1"},
		{kubelet(instancetype.Kubelet{KubeReserved: map[string]string{"cpu": "vcpus * 10"}}), `kubelet.kubeReserved[cpu]: must be a resource quantity, is "vcpus * 10"`},
		{kubelet(instancetype.Kubelet{SystemReserved: map[string]string{"memory": "-1Gi"}}), `kubelet.systemReserved[memory]: must not be negative, is "-1Gi"`},
		{kubelet(instancetype.Kubelet{SystemReserved: map[string]string{"gpu": "1"}}), `kubelet.systemReserved: keys must be cpu, memory, ephemeral-storage or pid`},
		{kubelet(instancetype.Kubelet{EvictionHard: map[string]string{"memory.available": "101%"}}), `kubelet.evictionHard[memory.available]: must be a percentage from 0% to 100%, is "101%"`},
		{kubelet(instancetype.Kubelet{EvictionHard: map[string]string{"memory.available": "-1%"}}), `kubelet.evictionHard[memory.available]: must be a percentage from 0% to 100%, is "-1%"`},
		{kubelet(instancetype.Kubelet{EvictionHard: map[string]string{"memory.available": "1e1%"}}), `kubelet.evictionHard[memory.available]: must be a percentage from 0% to 100%, is "1e1%"`},
		{kubelet(instancetype.Kubelet{EvictionHard: map[string]string{"memory.available": "9227000000000000000"}}), `kubelet.evictionHard[memory.available]: must be a percentage or a quantity from 0 to 1Ei, is "9227000000000000000"`},
		{kubelet(instancetype.Kubelet{EvictionHard: map[string]string{"nodefs.available": "a lot"}}), `kubelet.evictionHard[nodefs.available]: must be a percentage or a quantity from 0 to 1Ei, is "a lot"`},
	} {
		t.Run(test.want, func(t *testing.T) {
			types, err := instancetype.ResolveSettings(c, test.settings)
			var fault *instancetype.SettingError
			if types != nil || !errors.As(err, &fault) {
				t.Fatalf("resolved %d types with error %v", len(types), err)
			}
			if err.Error() != test.want {
				t.Errorf("error is\n%s\nwant\n%s", err, test.want)
			}
		})
	}
}
