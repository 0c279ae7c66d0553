package instancetype_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// allDrivers are the drivers of all kinds of devices.
func allDrivers() map[string]string {
	return map[string]string{"nvidia": "gpu.nvidia.com", "efa": "dra.net", "neuron": "neuron.aws.com"}
}

// devicesOf are the devices of a type of the driver.
func devicesOf(it *cloudprovider.InstanceType, driver string) []resourcev1.Device {
	for _, p := range it.Devices {
		if p.Driver == driver {
			return p.Devices
		}
	}
	return nil
}

// CP-CATALOG-16: whatever drivers there are and however GPUs are shared, drivers could publish what types say, and no resource of a device plugin is left.
func TestDevicesCanBePublished(t *testing.T) {
	for _, s := range []instancetype.Settings{{}, {NVIDIAMIG: true}, {NVIDIAShares: "4"}, {NVIDIAShares: "memory"}, {NVIDIAShares: "unlimited"}} {
		s.DeviceDrivers = allDrivers()
		for name, it := range resolve(t, embedded(t), s) {
			for i := range it.Devices {
				if faults := cloudprovider.ValidateDevicePool(&it.Devices[i], field.NewPath("devices")); len(faults) > 0 {
					t.Errorf("%s: %v", name, faults)
				}
			}
			if got := quantity(it.Capacity, instancetype.ResourceEFA) + quantity(it.Capacity, instancetype.ResourceNeuron) + quantity(it.Capacity, instancetype.ResourceNeuronCore); got != "000" {
				t.Errorf("%s has resources of device plugins: %s", name, got)
			}
		}
	}
}

// What each driver publishes for some types, under the name that it was given.
func TestDevicesOfDrivers(t *testing.T) {
	types := resolve(t, embedded(t), instancetype.Settings{DeviceDrivers: map[string]string{"nvidia": "gpu.nvidia.com", "efa": "net.example.com", "neuron": "neuron.aws.com"}})
	for _, c := range []struct {
		name              string
		gpus, efa, neuron int
	}{
		{"p5.48xlarge", 8, 32, 0}, {"p4d.24xlarge", 8, 4, 0}, {"g6.xlarge", 1, 0, 0}, {"g6.8xlarge", 1, 1, 0}, {"trn1.32xlarge", 0, 8, 16}, {"inf2.xlarge", 0, 0, 1},
		{"inf1.xlarge", 0, 0, 0}, {"m5.large", 0, 0, 0},
	} {
		it := types[c.name]
		if it == nil {
			t.Errorf("there is no %s", c.name)
			continue
		}
		got := fmt.Sprint(len(devicesOf(it, "gpu.nvidia.com")), len(devicesOf(it, "net.example.com")), len(devicesOf(it, "neuron.aws.com")))
		if want := fmt.Sprint(c.gpus, c.efa, c.neuron); got != want {
			t.Errorf("%s publishes %s devices, want %s", c.name, got, want)
		}
	}
	onRoot := map[string]int{}
	for _, d := range devicesOf(types["p5.48xlarge"], "net.example.com") {
		onRoot[*d.Attributes["resource.kubernetes.io/pcieRoot"].StringValue]++
		if name := *d.Attributes["dra.net/pciDevice"].StringValue; name != "Elastic Fabric Adapter (EFA)" || !*d.Attributes["dra.net/rdma"].BoolValue {
			t.Errorf("%s is %s", d.Name, name)
		}
	}
	for _, d := range devicesOf(types["p5.48xlarge"], "gpu.nvidia.com") {
		if onRoot[*d.Attributes["resource.kubernetes.io/pcieRoot"].StringValue] != 4 {
			t.Errorf("%s does not share its root with four EFA interfaces: %v", d.Name, onRoot)
		}
	}
	groups := map[string]int{}
	for _, d := range devicesOf(types["trn1.32xlarge"], "neuron.aws.com") {
		groups[*d.Attributes["resource.aws.com/devicegroup4_id"].StringValue]++
	}
	if len(groups) != 4 || groups["group-0"] != 4 {
		t.Errorf("groups of four: %v", groups)
	}
}

// A class that lists its network interfaces has the EFA devices that it lists.
func TestEFADevicesOfTheClass(t *testing.T) {
	types := resolve(t, embedded(t), instancetype.Settings{
		DeviceDrivers: allDrivers(), NetworkInterfaces: []instancetype.NetworkInterface{{}, {Card: 1, EFAOnly: true}, {Card: 2, EFAOnly: true}},
	})
	if got := len(devicesOf(types["p5.48xlarge"], "dra.net")); got != 2 {
		t.Errorf("%d", got)
	}
}

// Partitions of a GPU exclude each other as NVIDIA's table has it: so many of each profile fit on one GPU, "Number of Instances Available", and the whole GPU
// only while none of them is taken. An A100 has whole GPUs alone.
func TestPartitions(t *testing.T) {
	types := resolve(t, embedded(t), instancetype.Settings{DeviceDrivers: allDrivers(), NVIDIAMIG: true})
	for _, name := range []string{"p5.48xlarge", "p4d.24xlarge"} {
		if got := quantity(types[name].Capacity, "gpu.nvidia.com/devices"); got != "8" {
			t.Errorf("%s counts %s GPUs for limits, partitions are parts of one", name, got)
		}
	}
	for name, want := range map[string]map[string]int{
		"p5.48xlarge":      {"": 1, "1g.10gb": 7, "1g.10gb+me": 1, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1},
		"p5en.48xlarge":    {"": 1, "1g.18gb": 7, "1g.18gb+me": 1, "1g.35gb": 4, "2g.35gb": 3, "3g.71gb": 2, "4g.71gb": 1, "7g.141gb": 1},
		"p6-b200.48xlarge": {"": 1, "1g.23gb": 7, "1g.23gb+me": 1, "1g.45gb": 4, "2g.45gb": 3, "3g.90gb": 2, "4g.90gb": 1, "7g.180gb": 1},
		"p4d.24xlarge":     {"": 8},
	} {
		it := types[name]
		pool := it.Devices[0]
		if len(want) > 1 && len(pool.Devices) != 8*26 || len(pool.SharedCounters) != map[bool]int{true: 8}[len(want) > 1] {
			t.Errorf("%s has %d devices and %d sets of counters", name, len(pool.Devices), len(pool.SharedCounters))
		}
		for profile, most := range want {
			left := map[string]resource.Quantity{}
			if len(pool.SharedCounters) > 0 {
				for counter, c := range pool.SharedCounters[0].Counters {
					left[counter] = c.Value.DeepCopy()
				}
			}
			fit := 0
			for i := range pool.Devices {
				d := &pool.Devices[i]
				if got := d.Attributes["profile"].StringValue; got == nil && profile != "" || got != nil && *got != profile {
					continue
				}
				if len(d.ConsumesCounters) == 0 || d.ConsumesCounters[0].CounterSet == "gpu-0-counter-set" && take(left, d.ConsumesCounters[0].Counters) {
					fit++
				}
			}
			if fit != most {
				t.Errorf("%s: %d of %q fit on a GPU, want %d", name, fit, profile, most)
			}
		}
	}
}

// take consumes counters if there is enough of each.
func take(left map[string]resource.Quantity, wanted map[string]resourcev1.Counter) bool {
	for name, c := range wanted {
		if have, ok := left[name]; !ok || have.Cmp(c.Value) < 0 {
			return false
		}
	}
	for name, c := range wanted {
		have := left[name]
		have.Sub(c.Value)
		left[name] = have
	}
	return true
}

// GPUs are shared as NVIDIA's driver is told to have it.
func TestShares(t *testing.T) {
	for shares, want := range map[string]string{
		"": "false", "4": "true memory 0 from 0 shares 1 of 4", "memory": "true memory 22888Mi from 1Mi", "unlimited": "true memory 0 from 0",
	} {
		d := devicesOf(resolve(t, embedded(t), instancetype.Settings{DeviceDrivers: allDrivers(), NVIDIAShares: shares})["g6.xlarge"], "gpu.nvidia.com")[0]
		got := fmt.Sprint(d.AllowMultipleAllocations != nil)
		if p := d.Capacity["memory"].RequestPolicy; p != nil {
			got += fmt.Sprintf(" memory %s from %s", p.Default, p.ValidRange.Min)
		}
		if c, ok := d.Capacity["shares"]; ok {
			got += fmt.Sprintf(" shares %s of %s", c.RequestPolicy.Default, &c.Value)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", shares, got, want)
		}
	}
}

// A node class says itself which drivers run on its nodes, if it says so; device plugins then serve the other kinds.
func TestDriversOfTheClass(t *testing.T) {
	options := instancetype.Options{DeviceDrivers: map[string]string{"nvidia": "gpu.nvidia.com"}}
	for name, c := range map[string]struct {
		annotations         map[string]string
		gpus, shares, wrong string
	}{
		"as the setting": {nil, "0", "", ""},
		"device plugins": {map[string]string{awsv1.AnnotationDeviceDrivers: ""}, "1", "", ""},
		"others":         {map[string]string{awsv1.AnnotationDeviceDrivers: "efa=dra.net, neuron=neuron.aws.com"}, "1", "", ""},
		"shares":         {map[string]string{awsv1.AnnotationNVIDIAConsumableCapacity: "4"}, "0", "4", ""},
		"no shares":      {map[string]string{awsv1.AnnotationNVIDIAConsumableCapacity: "disabled"}, "0", "", ""},
		"no pair":        {map[string]string{awsv1.AnnotationDeviceDrivers: "nvidia"}, "", "", "KIND=DRIVER"},
		"no kind":        {map[string]string{awsv1.AnnotationDeviceDrivers: "tpu=x"}, "", "", "deviceDrivers[tpu]"},
		"no number":      {map[string]string{awsv1.AnnotationNVIDIAConsumableCapacity: "-1"}, "", "", "nvidiaShares"},
	} {
		class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "gpus", Annotations: c.annotations}}
		s, err := instancetype.NewSettings(embedded(t), class, options)
		var invalid *instancetype.SettingError
		if c.wrong != "" {
			if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), `"gpus"`) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := quantity(resolve(t, embedded(t), s)["g6.xlarge"].Capacity, instancetype.ResourceNVIDIAGPU); got != c.gpus || s.NVIDIAShares != c.shares {
			t.Errorf("%s: %s of the plugin's resource, %q shares", name, got, s.NVIDIAShares)
		}
	}
}
