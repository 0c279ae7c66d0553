package instancetype

import (
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// NVIDIADriver is the driver of NVIDIA's GPUs for Dynamic Resource Allocation.
const NVIDIADriver = "gpu.nvidia.com"

// pcieRoot is the attribute with which a claim asks for devices on the same PCIe root. Its values are placeholders, because claims only
// compare them.
const pcieRoot resourcev1.QualifiedName = "resource.kubernetes.io/pcieRoot"

// nvidiaGPU contains the values that NVIDIA's driver reads from NVML and publishes for a model. Memory is the lower of NVML's and EC2's
// values, so that plans place no claim on the GPU that requests more memory than it has.
type nvidiaGPU struct {
	product, brand, architecture, compute string
	memoryMiB                             int64
}

// nvidiaGPUs returns the known models, by EC2's name and memory. Instances with other models have no devices in plans. The brand is left
// out if it depends on the driver.
func nvidiaGPUs() map[string]nvidiaGPU {
	return map[string]nvidiaGPU{
		"T4/16384":    {"Tesla T4", "", "Turing", "7.5.0", 15360},
		"V100/32768":  {"Tesla V100-SXM2-32GB", "", "Volta", "7.0.0", 32768},
		"A10G/22888":  {"NVIDIA A10G", "Nvidia", "Ampere", "8.6.0", 22888},
		"A100/40960":  {"NVIDIA A100-SXM4-40GB", "Nvidia", "Ampere", "8.0.0", 40960},
		"A100/81920":  {"NVIDIA A100-SXM4-80GB", "Nvidia", "Ampere", "8.0.0", 81920},
		"L4/22888":    {"NVIDIA L4", "Nvidia", "Ada Lovelace", "8.9.0", 22888},
		"L40S/45776":  {"NVIDIA L40S", "Nvidia", "Ada Lovelace", "8.9.0", 45776},
		"H100/81920":  {"NVIDIA H100 80GB HBM3", "Nvidia", "Hopper", "9.0.0", 81559},
		"H200/144384": {"NVIDIA H200", "Nvidia", "Hopper", "9.0.0", 143771},
		"B200/183359": {"NVIDIA B200", "Nvidia", "Blackwell", "10.0.0", 183359},
	}
}

// gpusOnRoot returns the number of GPUs of an instance that share a PCIe root, for the types whose number is documented. GPUs of other
// types have no PCIe root in plans.
func gpusOnRoot() map[string]int {
	return map[string]int{"p4d.24xlarge": 2, "p5.48xlarge": 1, "p6-b200.48xlarge": 2}
}

// NVIDIADevices returns the devices that NVIDIA's driver publishes by default on an instance of the type: one for each whole GPU, with the
// attributes that are known beforehand. It returns nil for a nil type, for unknown models and for parts of GPUs. UUIDs, addresses and
// driver versions are unknown, so claims whose selectors use them never match these devices.
//
// Names are taken from the driver's source, https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu (before: NVIDIA/k8s-dra-driver-gpu).
func NVIDIADevices(t *catalog.Type) []cloudprovider.DevicePool {
	return nvidiaPools(t, NVIDIADriver, false, SharesDisabled)
}

// nvidiaPools returns the devices that NVIDIA's driver publishes under the name driver, with partitions if mig is true. The parameter
// shares says how claims share the devices.
func nvidiaPools(t *catalog.Type, driver string, mig bool, shares string) []cloudprovider.DevicePool {
	if t == nil {
		return nil
	}
	known, onRoot := nvidiaGPUs(), gpusOnRoot()[t.Name]
	pool := cloudprovider.DevicePool{Driver: driver}
	minor := 0
	for _, g := range t.GPUs {
		model, ok := known[fmt.Sprintf("%s/%d", g.Name, g.MemoryMiB)]
		if !ok || g.Manufacturer != "NVIDIA" || g.Partition != 0 {
			continue
		}
		layout, partitioned := migLayouts()[model.product]
		for range g.Count {
			whole := model.device(minor)
			if onRoot > 0 {
				whole.Attributes[pcieRoot] = words(fmt.Sprintf("root-%d", minor/onRoot))
			}
			if mig && partitioned {
				set, parts := layout.of(&model, &whole, minor)
				pool.SharedCounters = append(pool.SharedCounters, set)
				pool.Devices = append(append(pool.Devices, whole), parts...)
			} else {
				share(&whole, shares)
				pool.Devices = append(pool.Devices, whole)
			}
			minor++
		}
	}
	if len(pool.Devices) == 0 {
		return nil
	}
	return []cloudprovider.DevicePool{pool}
}

func (g *nvidiaGPU) device(minor int) resourcev1.Device {
	d := resourcev1.Device{
		Name: fmt.Sprintf("gpu-%d", minor), Attributes: g.attributes("gpu"),
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": mebibytes(g.memoryMiB)},
	}
	return d
}

// attributes returns the attributes that a GPU and its partitions share.
func (g *nvidiaGPU) attributes(kind string) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	out := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"type": words(kind), "productName": words(g.product), "architecture": words(g.architecture), "cudaComputeCapability": {VersionValue: &g.compute},
	}
	if g.brand != "" {
		out["brand"] = words(g.brand)
	}
	return out
}

func words(text string) resourcev1.DeviceAttribute {
	return resourcev1.DeviceAttribute{StringValue: &text}
}

func mebibytes(n int64) resourcev1.DeviceCapacity {
	return resourcev1.DeviceCapacity{Value: *resource.NewQuantity(n<<20, resource.BinarySI)}
}
