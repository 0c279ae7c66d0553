package instancetype

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/drawknife/drawknife/api/requirements"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/internal/quantities"
)

// DefaultVMMemoryOverheadPercent is the fraction of an instance's memory that hypervisor and kernel are assumed to use until a better value
// is known.
const DefaultVMMemoryOverheadPercent = 0.075

// Settings determine, together with the catalogue, the instance types. Equal settings give equal instance types: see Key. The zero value is
// the default class: AL2023, no kubelet settings, all zones.
type Settings struct {
	// AMIFamily is the effective AMI family. Empty means AL2023; an unknown family, including Ubuntu, behaves as AL2.
	AMIFamily awsv1.AMIFamily `json:"amiFamily,omitempty"`
	// Images are the labels that each of the class's images requires of its instances. A type on which no image boots can't be launched.
	// Empty means that the images are unknown and exclude nothing.
	Images [][]corev1.NodeSelectorRequirement `json:"images,omitempty"`
	// Kubelet is the part of the kubelet's configuration that affects scheduling.
	Kubelet Kubelet `json:"kubelet,omitzero"`
	// BlockDevices are the class's own volumes; empty means the volumes of the family.
	BlockDevices []BlockDevice `json:"blockDevices,omitempty"`
	// InstanceStorePolicy RAID0 uses the local disks as node ephemeral storage; empty leaves them unused.
	InstanceStorePolicy awsv1.InstanceStorePolicy `json:"instanceStorePolicy,omitempty"`
	// NetworkInterfaces that the class lists. Nil and empty differ: a class with a list, even an empty one, has exactly the EFA interfaces
	// that it lists; a class without a list has all EFA interfaces that the type offers.
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces"`
	// IPPrefixCount is the number of address prefixes of each interface; 0 leaves it to EC2.
	IPPrefixCount int64 `json:"ipPrefixCount,omitempty"`
	// NestedVirtualization is true when the class asks for it.
	NestedVirtualization bool `json:"nestedVirtualization,omitempty"`
	// ThreadsPerCore is the number of threads of each core, 1 or 2, and CoreCount the number of cores that an instance has; 0 means the
	// number of the type. Types that don't support these numbers can't be launched. They change the vCPUs of an instance, but neither its
	// price nor its label for the number of CPUs.
	ThreadsPerCore int64 `json:"threadsPerCore,omitempty"`
	CoreCount      int64 `json:"coreCount,omitempty"`
	// BandwidthWeighting divides the bandwidth between network and EBS volumes. Types that don't support this weighting can't be launched.
	// Empty, and the default weighting, exclude no type.
	BandwidthWeighting awsv1.BandwidthWeighting `json:"bandwidthWeighting,omitempty"`
	// Tenancy is the tenancy of all instances: one of the Tenancy constants of aws/api/v1. Types that don't support it can't be launched,
	// and prices are those of the tenancy. Empty means that each NodeClaim chooses between default and dedicated, and that prices are those
	// of shared hardware.
	Tenancy string `json:"tenancy,omitempty"`
	// UnlimitedCredits is true if burstable instances have unlimited CPU credits, which EC2 refuses on Dedicated Hosts. It has no effect with
	// other tenancies.
	UnlimitedCredits bool `json:"unlimitedCredits,omitempty"`
	// ConnectionTracking is true when the class configures it.
	ConnectionTracking bool `json:"connectionTracking,omitempty"`
	// PlacementStrategy of the class's placement group: "cluster", "partition", "spread"; empty without a group.
	PlacementStrategy string `json:"placementStrategy,omitempty"`
	// PlacementGroupID of that group; empty means that the caller adds the group's labels.
	PlacementGroupID string `json:"placementGroupID,omitempty"`
	// PlacementPartitions is the number of partitions of a group of strategy "partition"; at least 0.
	PlacementPartitions int32 `json:"placementPartitions,omitempty"`
	// Zones that instances can be launched in, by name; nil means all zones of the catalogue. An ID given here replaces the catalogue's:
	// the same zone name may mean different zones in different accounts.
	Zones []catalog.Zone `json:"zones"`
	// VMMemoryOverheadPercent is a fraction, at least 0 and less than 1; nil means DefaultVMMemoryOverheadPercent.
	VMMemoryOverheadPercent *float64 `json:"vmMemoryOverheadPercent,omitempty"`
	// MemoryPrior is the estimate to use if VMMemoryOverheadPercent is nil; see MemoryPriorMeasured.
	MemoryPrior MemoryPrior `json:"memoryPrior,omitempty"`
	// PodDensity says for how many pods the network has addresses; nil means VPCCNI{}, secondary addresses.
	PodDensity PodDensity `json:"-"`
	// FractionalGPUs makes instances with a part of a GPU (g6f, gr6f) offer it as a GPU, as their device plugin does. Otherwise these
	// instances offer no GPU, because a pod that requests a GPU can't say which share it needs. With this setting, pods that need a whole
	// GPU must require LabelInstanceGPUPartition "1".
	FractionalGPUs bool `json:"fractionalGPUs,omitempty"`
	// DeviceDrivers are the drivers of Dynamic Resource Allocation that run in the cluster instead of device plugins, by kind of device:
	// {DevicesNVIDIA: NVIDIADriver}. Instances publish their devices instead of having the plugin's extended resources. Nil means none:
	// plugins serve all devices.
	DeviceDrivers map[string]string `json:"deviceDrivers,omitempty"`
	// NVIDIAMIG is true if NVIDIA's driver publishes partitions of GPUs in addition to whole ones (its feature gate DynamicMIG).
	NVIDIAMIG bool `json:"nvidiaMIG,omitempty"`
	// NVIDIAShares says how many claims may share a GPU, like the setting consumableShares of NVIDIA's driver: SharesDisabled,
	// SharesByMemory, SharesUnlimited, or a number. It can't be combined with NVIDIAMIG.
	NVIDIAShares string `json:"nvidiaShares,omitempty"`
	// DeviceResources maps EC2's name of a device to the name of its extended resource, for inference chips, FPGAs and media accelerators:
	// {"U30": "xilinx.com/u30"}. EC2 and Kubernetes have no common names for these devices, except for Qualcomm's. So other devices are a
	// resource only if they are named here.
	DeviceResources map[string]string `json:"deviceResources,omitempty"`
	// HugePages are quantities by resource name ("hugepages-2Mi", "hugepages-1Gi") that instances allocate at boot. They are listed as
	// capacity, and reduce the ordinary memory for pods.
	HugePages map[string]string `json:"hugePages,omitempty"`
	// WithoutPodENI leaves branch interfaces out of the capacity, for clusters whose CNI does not serve them
	// (ENABLE_POD_ENI).
	WithoutPodENI bool `json:"withoutPodENI,omitempty"`
	// ReservedENIs is the number of network interfaces whose addresses pods don't use; at least 0.
	ReservedENIs int64 `json:"reservedENIs,omitempty"`
	// DiscoveredMemory is the memory capacity in bytes seen on instances, by instance type; it replaces the estimate.
	DiscoveredMemory map[string]int64 `json:"discoveredMemory,omitempty"`
}

// Kubelet is the part of a class's kubelet configuration that influences scheduling.
type Kubelet struct {
	// MaxPods is the pod limit; nil means the family's rule.
	MaxPods *int32 `json:"maxPods,omitempty"`
	// PodsPerCore limits the pods per vCPU; nil and 0 mean no such limit.
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// SystemReserved are quantities by resource name: "cpu", "memory", "ephemeral-storage", "pid".
	SystemReserved map[string]string `json:"systemReserved,omitempty"`
	// KubeReserved are quantities by resource name that replace the computed ones, entry by entry.
	KubeReserved map[string]string `json:"kubeReserved,omitempty"`
	// EvictionHard are thresholds by signal, quantities or percentages. "memory.available" and "nodefs.available"
	// are used; other signals affect no schedulable resource.
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
}

// BlockDevice is a volume of the class.
type BlockDevice struct {
	// DeviceName such as "/dev/xvda".
	DeviceName string `json:"deviceName,omitempty"`
	// SizeBytes of the volume; 0 if its snapshot determines the size.
	SizeBytes int64 `json:"sizeBytes,omitempty"`
	// Root is true for the volume with the kubelet's root.
	Root bool `json:"root,omitempty"`
}

// NetworkInterface is a network interface that the class lists.
type NetworkInterface struct {
	// Card and Device are the indexes of the network card, and of the interface on it.
	Card   int `json:"card,omitempty"`
	Device int `json:"device,omitempty"`
	// EFAOnly is true for interfaces that carry EFA traffic and no addresses.
	EFAOnly bool `json:"efaOnly,omitempty"`
}

// Key returns a string that is equal for equal settings, so that classes with the same inputs can share one list of instance types.
// Settings that mean the same but are written differently may have different keys.
func (s Settings) Key() string {
	text, err := json.Marshal(s) // sorts maps
	if err != nil {
		// The settings contain a fraction that is not a number, so Resolve refuses them and nothing is shared.
		return fmt.Sprintf("%+v", s)
	}
	if s.PodDensity != nil {
		return string(text) + s.PodDensity.Key()
	}
	return string(text)
}

// SettingError is a setting that cannot be used.
type SettingError struct {
	// Field is the path of the setting, as in kubelet.evictionHard[memory.available].
	Field string
	// Problem says what is wrong with it and what is allowed.
	Problem string
}

// Error names the field and the problem.
func (e *SettingError) Error() string { return e.Field + ": " + e.Problem }

func badSetting(field, format string, args ...any) error {
	return &SettingError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// plan is Settings parsed, checked, and completed with defaults and facts of the catalogue.
type plan struct {
	Settings
	family         family
	memoryOverhead float64
	images         []requirements.Set
	kubeReserved   reserved
	systemReserved reserved
	hugePages      reserved
	memoryEviction threshold
	diskEviction   threshold
	efaOnly        int64 // number of interfaces with EFAOnly
	efaOnlyCard0   int64 // number of interfaces with EFAOnly on card 0
	zones          []zoneUse
}

// zoneUse says whether a zone of the catalogue can be used and under which ID.
type zoneUse struct {
	name, id string
	usable   bool
}

// prepare makes the plan of s, and returns an error if s is invalid or does not match the catalogue c.
func prepare(c *catalog.Catalog, s Settings) (*plan, error) {
	if c == nil {
		return nil, errors.New("there is no catalogue to resolve instance types from")
	}
	p := &plan{Settings: s, family: familyOf(cmp.Or(s.AMIFamily, awsv1.AMIFamilyAL2023)), memoryOverhead: DefaultVMMemoryOverheadPercent}
	if v := s.VMMemoryOverheadPercent; v != nil {
		if math.IsNaN(*v) || *v < 0 || *v >= 1 {
			return nil, badSetting("vmMemoryOverheadPercent", "must be a fraction of at least 0 and less than 1, is %g", *v)
		}
		p.memoryOverhead = *v
	}
	if s.MemoryPrior != MemoryPriorFlat && s.MemoryPrior != MemoryPriorMeasured {
		return nil, badSetting("memoryPrior", "must be %q or absent, is %q", MemoryPriorMeasured, s.MemoryPrior)
	}
	if s.PlacementPartitions < 0 {
		return nil, badSetting("placementPartitions", "must be at least 0, is %d", s.PlacementPartitions)
	}
	if err := p.prepareDevices(); err != nil {
		return nil, err
	}
	if s.ReservedENIs < 0 {
		return nil, badSetting("reservedENIs", "must be at least 0, is %d", s.ReservedENIs)
	}
	if s.ThreadsPerCore < 0 || s.ThreadsPerCore > 2 {
		return nil, badSetting("threadsPerCore", "must be 1, 2 or absent, is %d", s.ThreadsPerCore)
	}
	if s.CoreCount < 0 || s.CoreCount > maxCores {
		return nil, badSetting("coreCount", "must be between 1 and %d or absent, is %d", maxCores, s.CoreCount)
	}
	if !slices.Contains([]string{"", TenancyApart, awsv1.TenancyDefault, awsv1.TenancyDedicated, awsv1.TenancyHost}, s.Tenancy) {
		return nil, badSetting("tenancy", "must be default, dedicated, host or absent, is %q", s.Tenancy)
	}
	if s.IPPrefixCount < 0 {
		return nil, badSetting("ipPrefixCount", "must be at least 0, is %d", s.IPPrefixCount)
	}
	if s.InstanceStorePolicy != "" && s.InstanceStorePolicy != awsv1.InstanceStorePolicyRAID0 {
		return nil, badSetting("instanceStorePolicy", "must be %q or absent, is %q", awsv1.InstanceStorePolicyRAID0, s.InstanceStorePolicy)
	}
	for i, d := range s.BlockDevices {
		if d.SizeBytes < 0 {
			return nil, badSetting(fmt.Sprintf("blockDevices[%d].sizeBytes", i), "must be at least 0, is %d", d.SizeBytes)
		}
	}
	for _, n := range s.NetworkInterfaces {
		if n.EFAOnly {
			p.efaOnly++
			if n.Card == 0 {
				p.efaOnlyCard0++
			}
		}
	}
	if err := p.prepareImages(); err != nil {
		return nil, err
	}
	if err := p.prepareKubelet(); err != nil {
		return nil, err
	}
	return p, p.prepareZones(c)
}

func (p *plan) prepareImages() error {
	for i, entries := range p.Images {
		var want requirements.Set
		for j, entry := range entries {
			r, err := requirements.ParseNodeSelectorRequirement(entry)
			if err != nil {
				return badSetting(fmt.Sprintf("images[%d][%d]", i, j), "%v", err)
			}
			want = want.With(r)
		}
		p.images = append(p.images, want)
	}
	return nil
}

// prepareDevices checks drivers, sharing and the names of extended resources, and parses the huge pages.
func (p *plan) prepareDevices() error {
	if err := checkDrivers(p.DeviceDrivers); err != nil {
		return err
	}
	if err := p.checkSharing(); err != nil {
		return err
	}
	for _, device := range slices.Sorted(maps.Keys(p.DeviceResources)) {
		// A name without a domain would be a resource of Kubernetes itself.
		name := p.DeviceResources[device]
		if !strings.Contains(name, "/") || strings.ContainsAny(name, "=,") || len(validation.IsQualifiedName(name)) > 0 {
			return badSetting("deviceResources["+device+"]", "must be the name of an extended resource such as %q, is %q", "example.com/fpga", name)
		}
	}
	p.hugePages = reserved{}
	for _, name := range slices.Sorted(maps.Keys(p.HugePages)) {
		field, text := "hugePages["+name+"]", p.HugePages[name]
		size, isHugePage := strings.CutPrefix(name, corev1.ResourceHugePagesPrefix)
		if page, err := quantities.Parse(size); !isHugePage || err != nil || page.Sign() <= 0 {
			return badSetting(field, "must be named as a resource such as %q", "hugepages-2Mi")
		}
		q, err := quantities.Parse(text)
		if err != nil || q.Sign() < 0 || q.CmpInt64(maxThreshold) > 0 {
			return badSetting(field, "must be a quantity from 0 to 1Ei, is %q", text)
		}
		p.hugePages[corev1.ResourceName(name)] = q
	}
	return nil
}

func (p *plan) prepareKubelet() (err error) {
	k := p.Kubelet
	if k.MaxPods != nil && *k.MaxPods < 0 {
		return badSetting("kubelet.maxPods", "must be at least 0, is %d", *k.MaxPods)
	}
	if k.PodsPerCore != nil && *k.PodsPerCore < 0 {
		return badSetting("kubelet.podsPerCore", "must be at least 0, is %d", *k.PodsPerCore)
	}
	if p.kubeReserved, err = parseReserved("kubelet.kubeReserved", k.KubeReserved); err != nil {
		return err
	}
	if p.systemReserved, err = parseReserved("kubelet.systemReserved", k.SystemReserved); err != nil {
		return err
	}
	p.memoryEviction, err = parseThreshold("kubelet.evictionHard", k.EvictionHard, "memory.available", threshold{bytes: 100 << 20})
	if err != nil {
		return err
	}
	p.diskEviction, err = parseThreshold("kubelet.evictionHard", k.EvictionHard, "nodefs.available", threshold{numerator: 10, denominator: 100})
	return err
}

func (p *plan) prepareZones(c *catalog.Catalog) error {
	p.zones = make([]zoneUse, len(c.Zones))
	index := make(map[string]int, len(c.Zones))
	names := make([]string, len(c.Zones))
	for i, zone := range c.Zones {
		p.zones[i] = zoneUse{name: zone.Name, id: zone.ID, usable: p.Zones == nil}
		index[zone.Name], names[i] = i, zone.Name
	}
	for i, zone := range p.Zones {
		at, ok := index[zone.Name]
		if !ok {
			return badSetting(fmt.Sprintf("zones[%d]", i), "the catalogue of region %q has no zone %q, it has %s",
				c.Region, zone.Name, strings.Join(names, ", "))
		}
		p.zones[at].usable = true
		p.zones[at].id = cmp.Or(zone.ID, p.zones[at].id)
	}
	return nil
}
