package instancetype_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
)

// OPP-06, AWI-073: a part of a GPU counts when that is wanted, and its size is a label in any case.
func TestFractionalGPUs(t *testing.T) {
	c := embedded(t)
	whole := resolve(t, c, instancetype.Settings{})
	parts := resolve(t, c, instancetype.Settings{FractionalGPUs: true})
	for _, test := range []struct{ typeName, whole, parts, label string }{
		{"g6f.large", "0", "1", "0.125"},
		{"g6f.2xlarge", "0", "1", "0.25"},
		{"gr6f.4xlarge", "0", "1", "0.5"},
		{"g6.12xlarge", "4", "4", "1"},
		{"m5.large", "0", "0", absent},
	} {
		if got := quantity(whole[test.typeName].Capacity, instancetype.ResourceNVIDIAGPU); got != test.whole {
			t.Errorf("%s offers %s whole GPUs, want %s", test.typeName, got, test.whole)
		}
		if got := quantity(parts[test.typeName].Capacity, instancetype.ResourceNVIDIAGPU); got != test.parts {
			t.Errorf("%s offers %s GPUs of any size, want %s", test.typeName, got, test.parts)
		}
		for _, types := range []map[string]string{
			{"whole": stated(whole[test.typeName].Requirements, instancetype.LabelInstanceGPUPartition)},
			{"parts": stated(parts[test.typeName].Requirements, instancetype.LabelInstanceGPUPartition)},
		} {
			for kind, got := range types {
				if got != test.label {
					t.Errorf("%s, %s: the label is %q, want %q", test.typeName, kind, got, test.label)
				}
			}
		}
	}
}

// OPP-06: inference chips, FPGAs and transcoders are resources under the name that serves them.
func TestOtherDevices(t *testing.T) {
	c := invented(t,
		catalog.Type{Name: "dl2q.24xlarge", Accelerators: catalog.Accelerators{Inference: []catalog.Accelerator{{Name: "QAic100", Manufacturer: "Qualcomm", Count: 8}}}},
		catalog.Type{Name: "f9.large", Accelerators: catalog.Accelerators{
			FPGA:  []catalog.Accelerator{{Name: "VU47P", Manufacturer: "Xilinx", Count: 2}},
			Media: []catalog.Accelerator{{Name: "U30", Manufacturer: "Xilinx", Count: 4}},
		}},
	)
	plain := resolve(t, c, instancetype.Settings{})
	if got := quantity(plain["dl2q.24xlarge"].Capacity, instancetype.ResourceQualcommAI); got != "8" {
		t.Errorf("dl2q.24xlarge offers %s", got)
	}
	if got := quantity(plain["f9.large"].Capacity, "xilinx.com/fpga"); got != "(not listed)" {
		t.Errorf("f9.large offers %s FPGAs under a name that nobody gave", got)
	}
	named := resolve(t, c, instancetype.Settings{DeviceResources: map[string]string{
		"VU47P": "xilinx.com/card", "U30": "xilinx.com/card", "QAic100": "qualcomm.com/qaic-std",
	}})
	if got := quantity(named["f9.large"].Capacity, "xilinx.com/card"); got != "6" {
		t.Errorf("f9.large offers %s cards", got)
	}
	if got := quantity(named["dl2q.24xlarge"].Capacity, "qualcomm.com/qaic-std"); got != "8" {
		t.Errorf("dl2q.24xlarge offers %s", got)
	}
}

// AWI-078: huge pages are capacity, and ordinary memory is less by them.
func TestHugePages(t *testing.T) {
	c := embedded(t)
	plain := resolve(t, c, instancetype.Settings{})["m5.large"].Allocatable()
	types := resolve(t, c, instancetype.Settings{HugePages: map[string]string{"hugepages-2Mi": "1Gi", "hugepages-1Gi": "2Gi"}})
	got := types["m5.large"].Allocatable()
	if two, one := quantity(got, "hugepages-2Mi"), quantity(got, "hugepages-1Gi"); two != "1Gi" || one != "2Gi" {
		t.Errorf("has %s and %s", two, one)
	}
	if less := plain.Memory().Value() - got.Memory().Value(); less != 3<<30 {
		t.Errorf("memory is less by %d", less)
	}
	if _, ok := types["t3.small"]; ok {
		t.Error("t3.small is listed with more huge pages than memory")
	}
}

// AWI-057, AWI-138: the group and its partitions are labels of every type.
func TestPlacementGroupLabels(t *testing.T) {
	it := resolve(t, embedded(t), instancetype.Settings{PlacementStrategy: "partition", PlacementGroupID: "pg-1", PlacementPartitions: 3})["m5.large"]
	if got := stated(it.Requirements, awsv1.LabelPlacementGroupID); got != "pg-1" {
		t.Errorf("the group is %q", got)
	}
	if got := stated(it.Requirements, awsv1.LabelPlacementGroupPartition); got != "1,2,3" {
		t.Errorf("the partitions are %q", got)
	}
}

// OPP-08: the measured prior gives large instances more memory than the flat fraction, small ones never less, and does
// not touch what was set or seen.
func TestMeasuredMemoryPrior(t *testing.T) {
	c := embedded(t)
	flat := resolve(t, c, instancetype.Settings{})
	measured := resolve(t, c, instancetype.Settings{MemoryPrior: instancetype.MemoryPriorMeasured})
	for name, want := range map[string]string{
		"i4i.32xlarge": "997944Mi", // flat: 969932Mi
		"m4.16xlarge":  "256176Mi",
		"m5.metal":     "383085Mi",
		"c5.large":     "3788Mi",
	} {
		if got := quantity(measured[name].Capacity, corev1.ResourceMemory); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
	for name, it := range flat {
		if measured[name].Capacity.Memory().Cmp(*it.Capacity.Memory()) < 0 {
			t.Errorf("%s has less memory by the measured prior", name)
		}
	}
	set := resolve(t, c, instancetype.Settings{MemoryPrior: instancetype.MemoryPriorMeasured, VMMemoryOverheadPercent: ptr(0.1)})
	if got := quantity(set["m5.24xlarge"].Capacity, corev1.ResourceMemory); got != "353894Mi" {
		t.Errorf("the fraction that is set gives %s", got)
	}
	seen := resolve(t, c, instancetype.Settings{MemoryPrior: instancetype.MemoryPriorMeasured, DiscoveredMemory: map[string]int64{"m5.large": 7000 << 20}})
	if got := quantity(seen["m5.large"].Capacity, corev1.ResourceMemory); got != "7000Mi" {
		t.Errorf("the memory that was seen counts as %s", got)
	}
}

// OPP-08, AWI-067: a percentage threshold is of the memory that was seen.
func TestThresholdOfDiscoveredMemory(t *testing.T) {
	it := resolve(t, embedded(t), instancetype.Settings{
		DiscoveredMemory: map[string]int64{"m5.large": 7000 << 20},
		Kubelet:          instancetype.Kubelet{EvictionHard: map[string]string{"memory.available": "10%"}},
	})["m5.large"]
	if got := quantity(it.Overhead.EvictionThreshold, corev1.ResourceMemory); got != "700Mi" {
		t.Errorf("the threshold is %s", got)
	}
}

func TestRefusedDeviceSettings(t *testing.T) {
	for field, s := range map[string]instancetype.Settings{
		"deviceDrivers[tpu]":       {DeviceDrivers: map[string]string{"tpu": "tpu.example.com"}},
		"nvidiaShares":             {NVIDIAShares: "0"},
		"deviceDrivers[nvidia]":    {DeviceDrivers: map[string]string{"nvidia": "GPU"}},
		"deviceResources[U30]":     {DeviceResources: map[string]string{"U30": "cpu"}},
		"hugePages[memory]":        {HugePages: map[string]string{"memory": "1Gi"}},
		"hugePages[hugepages-2Mi]": {HugePages: map[string]string{"hugepages-2Mi": "many"}},
		"memoryPrior":              {MemoryPrior: "Guessed"},
		"placementPartitions":      {PlacementPartitions: -1},
	} {
		_, err := instancetype.ResolveSettings(embedded(t), s)
		var wrong *instancetype.SettingError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: error is %v", field, err)
		}
	}
}
