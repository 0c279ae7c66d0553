package instancetype

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Extended resources of EC2 instances. Each is the name that its device plugin or controller advertises.
const (
	// ResourceNVIDIAGPU counts NVIDIA GPUs: whole GPUs, and with Settings.FractionalGPUs also parts of GPUs.
	ResourceNVIDIAGPU corev1.ResourceName = "nvidia.com/gpu"
	// ResourceAMDGPU counts whole AMD GPUs.
	ResourceAMDGPU corev1.ResourceName = "amd.com/gpu"
	// ResourceHabanaGaudi counts Gaudi accelerators.
	ResourceHabanaGaudi corev1.ResourceName = "habana.ai/gaudi"
	// ResourceNeuron counts Inferentia and Trainium devices.
	ResourceNeuron corev1.ResourceName = "aws.amazon.com/neuron"
	// ResourceNeuronCore counts the cores of Inferentia and Trainium devices.
	ResourceNeuronCore corev1.ResourceName = "aws.amazon.com/neuroncore"
	// ResourceQualcommAI counts Cloud AI 100 accelerators.
	ResourceQualcommAI corev1.ResourceName = "qualcomm.com/qaic"
	// ResourceEFA counts Elastic Fabric Adapter interfaces.
	ResourceEFA corev1.ResourceName = "vpc.amazonaws.com/efa"
	// ResourcePodENI counts branch interfaces, one for each pod with its own security groups.
	ResourcePodENI corev1.ResourceName = "vpc.amazonaws.com/pod-eni"
	// ResourcePrivateIPv4Address counts addresses for pods on Windows nodes.
	ResourcePrivateIPv4Address corev1.ResourceName = "vpc.amazonaws.com/PrivateIPv4Address"
)

// defaultMaxPods is the pod limit if neither the class nor the network interfaces set one: Kubernetes' own default.
const defaultMaxPods = 110

// contiguousMemoryMiB is the memory that Graviton instances reserve for contiguous allocations and don't report.
const contiguousMemoryMiB = 64

// capacity is an instance's capacity as comparable integers, so that instance types with equal capacities can share one resource list.
type capacity struct {
	vcpus  int64
	memory int64 // bytes
	disk   storage
	pods   int64
	// reservedPods is the number of pods for which daemons reserve memory; if it is 0, the AMI family determines the number.
	reservedPods int64
	nvidia       int64
	amd          int64
	gaudi        int64
	neuron       int64
	neuronCore   int64
	efa          int64
	podENI       int64
	addresses    int64 // Windows only
	windows      bool
	others       string // the devices of DeviceResources that have no field here, as "resource=count,"; a string, so that capacity is comparable
}

// storage is a size in bytes that is displayed in decimal or binary units.
type storage struct {
	bytes   int64
	decimal bool
}

// capacityOf returns the amount of each resource of an instance of the type, before reservations for the system.
func (p *plan) capacityOf(t *catalog.Type) capacity {
	c := capacity{
		vcpus:   p.vcpus(t),
		memory:  p.memoryBytes(t),
		disk:    p.ephemeralStorage(t),
		windows: p.family.windowsBuild != "",
	}
	c.pods, c.reservedPods = p.pods(t)
	for _, g := range t.GPUs {
		n := p.gpus(g)
		switch g.Manufacturer {
		case "NVIDIA":
			if p.DeviceDrivers[DevicesNVIDIA] == "" {
				c.nvidia += n
			}
		case "AMD":
			c.amd += n
		case "Habana":
			c.gaudi += n
		}
	}
	c.others = p.devices(t) + p.deviceCounts(t)
	if p.DeviceDrivers[DevicesNeuron] == "" {
		for i, d := range t.Accelerators.Neuron {
			c.neuron += d.Count
			if i == 0 {
				c.neuronCore = d.Count * d.CoresPerDevice
			}
		}
	}
	if p.DeviceDrivers[DevicesEFA] == "" {
		c.efa = p.efas(t)
	}
	if t.BranchENIs != nil && !p.WithoutPodENI {
		c.podENI = *t.BranchENIs
	}
	if c.windows {
		c.addresses = max(0, t.Network.IPv4PerENI-1)
	}
	return c
}

// gpus returns the number of GPUs of a kind that an instance has for pods. EC2's count for a part of a GPU is 0. A pod that requests a GPU
// most likely needs a whole GPU, so a part counts as a GPU only with Settings.FractionalGPUs.
func (p *plan) gpus(g catalog.GPU) int64 {
	if g.Count == 0 && p.FractionalGPUs {
		return g.LogicalCount
	}
	return g.Count
}

// devices returns the accelerators that are neither GPUs nor Neuron devices, by resource name.
func (p *plan) devices(t *catalog.Type) string {
	var b strings.Builder
	for _, kind := range [][]catalog.Accelerator{t.Accelerators.Inference, t.Accelerators.FPGA, t.Accelerators.Media} {
		for _, a := range kind {
			name, ok := p.DeviceResources[a.Name]
			if !ok && a.Manufacturer == "Qualcomm" {
				name = string(ResourceQualcommAI)
			}
			if name != "" {
				fmt.Fprintf(&b, "%s=%d,", name, a.Count)
			}
		}
	}
	return b.String()
}

// deviceCounts returns the number of devices that drivers publish, so that NodePools can limit them.
func (p *plan) deviceCounts(t *catalog.Type) string {
	var b strings.Builder
	for _, pool := range p.deviceTemplates(t) {
		fmt.Fprintf(&b, "%s=%d,", cloudprovider.DeviceCount(pool.Driver), pool.Count())
	}
	return b.String()
}

// estimatedMemoryMiB returns the memory minus the estimated share of hypervisor and kernel.
func (p *plan) estimatedMemoryMiB(t *catalog.Type) int64 {
	m := t.MemoryMiB
	if len(t.Architectures) > 0 && t.Architectures[0] == "arm64" {
		m = max(0, m-contiguousMemoryMiB)
	}
	kept := int64(math.Ceil(float64(m) * p.memoryOverhead))
	if p.MemoryPrior == MemoryPriorMeasured && p.VMMemoryOverheadPercent == nil {
		kept = min(kept, measuredOverheadMiB(t))
	}
	return m - kept
}

// memoryBytes returns the memory that was discovered on instances of the type, or an estimate if none was discovered.
func (p *plan) memoryBytes(t *catalog.Type) int64 {
	if seen, ok := p.DiscoveredMemory[t.Name]; ok && seen > 0 {
		return seen
	}
	return p.estimatedMemoryMiB(t) << 20
}

// ephemeralStorage returns the size of the disk that pods write to. The first of these disks whose size is known is used: the local disks,
// if the class makes one array of them; the volume marked as root; the AMI family's device for pods, or a custom image's last volume; the
// family's default; 20 GiB.
func (p *plan) ephemeralStorage(t *catalog.Type) storage {
	if p.InstanceStorePolicy == awsv1.InstanceStorePolicyRAID0 && t.LocalStorage != nil && t.LocalStorage.TotalGB > 0 {
		return storage{bytes: t.LocalStorage.TotalGB * 1_000_000_000, decimal: true}
	}
	if i := slices.IndexFunc(p.BlockDevices, func(d BlockDevice) bool { return d.Root && d.SizeBytes > 0 }); i >= 0 {
		return storage{bytes: p.BlockDevices[i].SizeBytes}
	}
	size := p.family.ephemeralBytes
	if p.family.ephemeralDevice == "" {
		// It is unknown which device of a custom image the kubelet uses; the last device is the best guess.
		if n := len(p.BlockDevices); n > 0 {
			size = p.BlockDevices[n-1].SizeBytes
		}
	} else if i := slices.IndexFunc(p.BlockDevices, func(d BlockDevice) bool {
		return d.DeviceName == p.family.ephemeralDevice && d.SizeBytes > 0
	}); i >= 0 {
		size = p.BlockDevices[i].SizeBytes
	}
	if size == 0 {
		size = 20 * gibi
	}
	return storage{bytes: size}
}

// pods returns the pod limit, and the number of pods for which daemons reserve memory; if the second number is 0, the AMI family determines
// it.
func (p *plan) pods(t *catalog.Type) (limit, reserved int64) {
	limit = defaultMaxPods
	switch {
	case p.Kubelet.MaxPods != nil:
		limit = int64(*p.Kubelet.MaxPods)
	case p.family.eniLimitedPods:
		d := p.density(t, p.ReservedENIs)
		limit, reserved = max(0, d.MaxPods), max(0, d.ReservedPods)
	}
	if perCore := p.Kubelet.PodsPerCore; perCore != nil && *perCore > 0 && p.family.podsPerCore {
		limit = min(limit, int64(*perCore)*p.vcpus(t))
	}
	return limit, reserved
}

func (p *plan) density(t *catalog.Type, reservedENIs int64) Density {
	usable := t.Network.ENIsDefaultCard - reservedENIs - p.efaOnlyCard0
	if p.PodDensity == nil {
		return VPCCNI{}.Density(t, usable)
	}
	return p.PodDensity.Density(t, usable)
}

// eniLimitedPods returns the number of pods that can get secondary addresses of the interfaces of the default network card, plus two pods
// that use the host's network. The images assume this number at boot, whatever pod density is configured.
func (p *plan) eniLimitedPods(t *catalog.Type) int64 {
	return VPCCNI{}.Density(t, t.Network.ENIsDefaultCard-p.efaOnlyCard0).MaxPods
}

// list converts c to a resource list, including zeros and the huge pages of the settings.
func (c capacity) list(hugePages reserved) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(c.vcpus, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(c.memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: c.disk.quantity(),
		corev1.ResourcePods:             *resource.NewQuantity(c.pods, resource.DecimalSI),
		ResourceNVIDIAGPU:               *resource.NewQuantity(c.nvidia, resource.DecimalSI),
		ResourceAMDGPU:                  *resource.NewQuantity(c.amd, resource.DecimalSI),
		ResourceHabanaGaudi:             *resource.NewQuantity(c.gaudi, resource.DecimalSI),
		ResourceNeuron:                  *resource.NewQuantity(c.neuron, resource.DecimalSI),
		ResourceNeuronCore:              *resource.NewQuantity(c.neuronCore, resource.DecimalSI),
		ResourceEFA:                     *resource.NewQuantity(c.efa, resource.DecimalSI),
		ResourcePodENI:                  *resource.NewQuantity(c.podENI, resource.DecimalSI),
	}
	if c.windows {
		list[ResourcePrivateIPv4Address] = *resource.NewQuantity(c.addresses, resource.DecimalSI)
	}
	for entry := range strings.SplitSeq(strings.TrimSuffix(c.others, ","), ",") {
		name, count, ok := strings.Cut(entry, "=")
		if n, err := strconv.ParseInt(count, 10, 64); ok && err == nil {
			total := list[corev1.ResourceName(name)]
			total.Add(*resource.NewQuantity(n, resource.DecimalSI))
			list[corev1.ResourceName(name)] = total
		}
	}
	for name, quantity := range hugePages {
		list[name] = quantity
	}
	return list
}

func (s storage) quantity() resource.Quantity {
	if s.decimal {
		return *resource.NewQuantity(s.bytes, resource.DecimalSI)
	}
	return *resource.NewQuantity(s.bytes, resource.BinarySI)
}
