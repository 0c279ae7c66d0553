package instancetype

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/drawknife/drawknife/api/option"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
)

// Options contain settings that a node class does not have itself. The zero value means the defaults.
type Options struct {
	// Zones that instances can be launched in; nil means the zones of the class's subnets, or all zones of the catalogue if the class's
	// status lists no subnet.
	Zones []catalog.Zone
	// PlacementStrategy is the strategy of the placement group that the class selects: "cluster", "partition",
	// "spread"; empty for none.
	PlacementStrategy string
	// PlacementGroupID and PlacementPartitions describe that group.
	PlacementGroupID    string
	PlacementPartitions int32
	// Tenancy is used for classes that leave it to the NodeClaim; see TenancyOf and Settings.Tenancy.
	Tenancy string
	// VMMemoryOverheadPercent is a fraction; nil means DefaultVMMemoryOverheadPercent.
	VMMemoryOverheadPercent *float64
	// MemoryPrior is the estimate to use if VMMemoryOverheadPercent is nil.
	MemoryPrior MemoryPrior
	// PodDensity says for how many pods the network has addresses; nil means VPCCNI{}.
	PodDensity PodDensity
	// WithoutPodENI, FractionalGPUs, DeviceDrivers, NVIDIAMIG, NVIDIAShares, DeviceResources and HugePages are as in Settings.
	WithoutPodENI   bool
	FractionalGPUs  bool
	DeviceDrivers   map[string]string
	NVIDIAMIG       bool
	NVIDIAShares    string
	DeviceResources map[string]string
	HugePages       map[string]string
	// ReservedENIs is the number of network interfaces whose addresses pods don't use.
	ReservedENIs int64
	// DiscoveredMemory is the memory capacity in bytes seen on instances of the class, by instance type.
	DiscoveredMemory map[string]int64
}

// Validate returns the first invalid option as a *SettingError, or nil if all are valid. Zones are checked by Resolve, which knows the
// catalogue.
func (o Options) Validate() error {
	_, err := prepare(&catalog.Catalog{}, Settings{
		PlacementPartitions: o.PlacementPartitions, Tenancy: o.Tenancy, VMMemoryOverheadPercent: o.VMMemoryOverheadPercent, MemoryPrior: o.MemoryPrior,
		DeviceDrivers: o.DeviceDrivers, NVIDIAMIG: o.NVIDIAMIG, NVIDIAShares: o.NVIDIAShares, DeviceResources: o.DeviceResources, HugePages: o.HugePages, ReservedENIs: o.ReservedENIs,
	})
	return err
}

// NewSettings reads the settings of a node class; a nil class is the default class, AL2023 without further settings. The catalogue must
// have facts for at least one of the class's zones: otherwise NewSettings returns an error, because the region is probably wrong.
// Expressions in the kubelet block (a gated alpha feature of Karpenter) are refused.
func NewSettings(c *catalog.Catalog, class *awsv1.EC2NodeClass, o Options) (Settings, error) {
	s := Settings{
		AMIFamily:               awsv1.AMIFamilyAL2023,
		PlacementStrategy:       o.PlacementStrategy,
		PlacementGroupID:        o.PlacementGroupID,
		PlacementPartitions:     o.PlacementPartitions,
		Tenancy:                 o.Tenancy,
		MemoryPrior:             o.MemoryPrior,
		PodDensity:              o.PodDensity,
		WithoutPodENI:           o.WithoutPodENI,
		FractionalGPUs:          o.FractionalGPUs,
		DeviceDrivers:           maps.Clone(o.DeviceDrivers),
		NVIDIAMIG:               o.NVIDIAMIG,
		NVIDIAShares:            o.NVIDIAShares,
		DeviceResources:         maps.Clone(o.DeviceResources),
		HugePages:               maps.Clone(o.HugePages),
		Zones:                   slices.Clone(o.Zones),
		VMMemoryOverheadPercent: o.VMMemoryOverheadPercent,
		ReservedENIs:            o.ReservedENIs,
		DiscoveredMemory:        maps.Clone(o.DiscoveredMemory),
	}
	if class == nil {
		return s, nil
	}
	if err := s.readDeviceAnnotations(class.Annotations); err != nil {
		return Settings{}, fmt.Errorf("node class %q: %w", class.Name, err)
	}
	spec := &class.Spec
	s.AMIFamily = spec.EffectiveAMIFamily()
	s.readPlacement(spec)
	s.ConnectionTracking = spec.ConnectionTracking != nil
	if v := spec.InstanceStorePolicy; v != nil {
		s.InstanceStorePolicy = *v
	}
	if v := spec.IPPrefixCount; v != nil {
		s.IPPrefixCount = int64(*v)
	}
	if v := spec.CPUOptions; v != nil {
		s.NestedVirtualization = v.NestedVirtualization != nil && *v.NestedVirtualization == awsv1.Enabled
		s.ThreadsPerCore, s.CoreCount = int64(option.Or(v.ThreadsPerCore, 0)), int64(option.Or(v.CoreCount, 0))
	}
	if v := spec.NetworkPerformanceOptions; v != nil {
		s.BandwidthWeighting = option.Or(v.BandwidthWeighting, "")
	}
	for _, m := range spec.BlockDeviceMappings {
		s.BlockDevices = append(s.BlockDevices, blockDevice(m))
	}
	if spec.NetworkInterfaces != nil {
		s.NetworkInterfaces = make([]NetworkInterface, 0, len(spec.NetworkInterfaces))
	}
	for _, n := range spec.NetworkInterfaces {
		s.NetworkInterfaces = append(s.NetworkInterfaces, NetworkInterface{
			Card:    int(n.NetworkCardIndex),
			Device:  int(n.DeviceIndex),
			EFAOnly: n.InterfaceType == awsv1.InterfaceTypeEFAOnly,
		})
	}
	s.readImages(class.Status.AMIs)
	err := s.readKubelet(spec.Kubelet)
	if err == nil && o.Zones == nil && c != nil {
		err = s.readSubnets(c, class.Status.Subnets)
	}
	if err != nil {
		return Settings{}, fmt.Errorf("node class %q: %w", class.Name, err)
	}
	return s, nil
}

func blockDevice(m awsv1.BlockDeviceMapping) BlockDevice {
	d := BlockDevice{Root: m.RootVolume}
	if m.DeviceName != nil {
		d.DeviceName = *m.DeviceName
	}
	if m.EBS != nil && m.EBS.VolumeSize != nil {
		d.SizeBytes = m.EBS.VolumeSize.Value()
	}
	return d
}

func (s *Settings) readKubelet(k *awsv1.KubeletConfiguration) error {
	if k == nil {
		return nil
	}
	s.Kubelet = Kubelet{
		PodsPerCore:    k.PodsPerCore,
		SystemReserved: maps.Clone(k.SystemReserved),
		KubeReserved:   maps.Clone(k.KubeReserved),
		EvictionHard:   maps.Clone(k.EvictionHard),
	}
	if k.MaxPods == nil {
		return nil
	}
	if k.MaxPods.Type != intstr.Int {
		return badSetting("kubelet.maxPods", "must be a number, is the expression %q: expressions are not evaluated here", k.MaxPods.StrVal)
	}
	pods := k.MaxPods.IntVal
	s.Kubelet.MaxPods = &pods
	return nil
}

// readImages copies the requirements of the images, sorted and without duplicates, so that a newer image with the same requirements changes
// no instance type.
func (s *Settings) readImages(amis []awsv1.AMI) {
	byText := map[string][]corev1.NodeSelectorRequirement{}
	for _, ami := range amis {
		entries := slices.Clone(ami.Requirements)
		slices.SortFunc(entries, func(a, b corev1.NodeSelectorRequirement) int { return strings.Compare(a.Key, b.Key) })
		byText[fmt.Sprint(entries)] = entries
	}
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		s.Images = append(s.Images, byText[text])
	}
}

// readSubnets sets the zones to those of the subnets for which the catalogue has facts.
func (s *Settings) readSubnets(c *catalog.Catalog, subnets []awsv1.Subnet) error {
	var unknown []string
	for _, subnet := range subnets {
		zone := catalog.Zone{Name: subnet.Zone, ID: subnet.ZoneID}
		switch {
		case slices.ContainsFunc(s.Zones, func(z catalog.Zone) bool { return z.Name == zone.Name }):
		case slices.ContainsFunc(c.Zones, func(z catalog.Zone) bool { return z.Name == zone.Name }):
			s.Zones = append(s.Zones, zone)
		default:
			unknown = append(unknown, zone.Name)
		}
	}
	slices.SortFunc(s.Zones, func(a, b catalog.Zone) int { return strings.Compare(a.Name, b.Name) })
	if len(s.Zones) == 0 && len(unknown) > 0 {
		slices.Sort(unknown)
		return badSetting("status.subnets", "are in zones %s, of which the catalogue of region %q has none: use the catalogue of their region",
			strings.Join(slices.Compact(unknown), ", "), c.Region)
	}
	return nil
}
