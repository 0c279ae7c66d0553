package catalog

import (
	"encoding/json"
	"fmt"
)

// Type is one EC2 instance type: its hardware as described by EC2, the zones that offer it and its prices. The JSON names are those of a
// catalogue file. A zero field means "none", "no" or "not known", as its comment says.
type Type struct {
	// Name as in the API, such as "m5.large".
	Name string `json:"name"`
	// VCPUs is the default number of vCPUs.
	VCPUs int64 `json:"vcpu"`
	// Cores is the default number of physical cores; 0 when unknown.
	Cores int64 `json:"cores,omitempty"`
	// MemoryMiB is the memory as EC2 reports it, without any deduction.
	MemoryMiB int64 `json:"memMiB"`
	// Architectures in EC2's names and order: "x86_64", "arm64", "i386", "x86_64_mac", "arm64_mac".
	Architectures []string `json:"arch"`
	// CPUManufacturer as EC2 writes it: "Intel", "AMD", "AWS", "Apple".
	CPUManufacturer string `json:"cpuMaker,omitempty"`
	// ClockGHz is the sustained clock speed; 0 when EC2 gives none.
	ClockGHz float64 `json:"clockGHz,omitempty"`
	// CPUFeatures are optional processor features, such as "nested-virtualization".
	CPUFeatures []string `json:"cpuFeatures,omitempty"`
	// Hypervisor is "nitro" or "xen"; empty for bare metal.
	Hypervisor string `json:"hypervisor,omitempty"`
	// BareMetal is true for types without a hypervisor.
	BareMetal bool `json:"metal,omitempty"`
	// Burstable is true for types with CPU credits.
	Burstable bool `json:"burstable,omitempty"`
	// CurrentGeneration is true if EC2 marks the type as current generation.
	CurrentGeneration bool `json:"current,omitempty"`
	// Enclaves is true if the type supports Nitro Enclaves.
	Enclaves bool `json:"enclaves,omitempty"`
	// DedicatedHosts is true if the type runs on Dedicated Hosts.
	DedicatedHosts bool `json:"hosts,omitempty"`
	// VirtualizationTypes are named only when they are not just "hvm".
	VirtualizationTypes []string `json:"virt,omitempty"`
	// Network describes the type's network interfaces.
	Network Network `json:"net"`
	// EBS describes how the type can use EBS volumes.
	EBS EBS `json:"ebs"`
	// LocalStorage is the instance store; nil without one.
	LocalStorage *LocalStorage `json:"local,omitempty"`
	// GPUs, one entry per kind.
	GPUs []GPU `json:"gpus,omitempty"`
	// Accelerators other than GPUs.
	Accelerators Accelerators `json:"accel,omitzero"`
	// PlacementStrategies of placement groups the type can join: "cluster", "partition", "spread".
	PlacementStrategies []string `json:"placement,omitempty"`
	// UsageClasses are the purchase options in which EC2 sells the type: "on-demand", "spot", "capacity-block".
	UsageClasses []string `json:"usage,omitempty"`
	// Zones that offer the type: indexes into Catalog.Zones, in rising order.
	Zones []int `json:"zones,omitempty"`
	// BranchENIs is the number of branch interfaces that the type supports: 0 if it can't have a trunk interface, nil if unknown (EC2 has
	// no API for it).
	BranchENIs *int64 `json:"branchENIs,omitempty"`
	// OnDemandUSD is the on-demand price in USD per hour; 0 if unknown.
	OnDemandUSD float64 `json:"odUSD,omitempty"`
	// OnDemandFrom is the key in Catalog.Sources of the on-demand price.
	OnDemandFrom string `json:"odFrom,omitempty"`
	// OnDemandTenancy is "dedicated" when only a price for dedicated tenancy is known; empty means shared tenancy.
	OnDemandTenancy string `json:"odTenancy,omitempty"`
	// SpotUSD are spot prices in USD per hour; SpotPrice says which zone each belongs to. Empty if none is known; an entry of 0 means that
	// its zone has no spot price.
	SpotUSD []float64 `json:"spotUSD,omitempty"`
	// SpotLowUSD and SpotHighUSD are the range of spot prices in USD per hour if SpotUSD does not show it; see SpotRange.
	SpotLowUSD  float64 `json:"spotLowUSD,omitempty"`
	SpotHighUSD float64 `json:"spotHighUSD,omitempty"`
	// SpotFrom is the key in Catalog.Sources of the spot prices; empty means "b".
	SpotFrom string `json:"spotFrom,omitempty"`
	// SpotInterruption is the band of interruption frequency at the time of the prices, such as "5-10%".
	SpotInterruption string `json:"spotInterrupt,omitempty"`
}

// Network describes the network interfaces of an instance type.
type Network struct {
	// ENIs is the number of network interfaces over all cards.
	ENIs int64 `json:"enis"`
	// ENIsDefaultCard is the number of interfaces of the default network card, the only ones that give pods addresses.
	ENIsDefaultCard int64 `json:"enisDefaultCard"`
	// Cards is the number of network cards; 0 when EC2 reports none.
	Cards int64 `json:"cards,omitempty"`
	// ENIsPerCard is set only if the cards differ; see CardENIs.
	ENIsPerCard []int64 `json:"enisPerCard,omitempty"`
	// IPv4PerENI is the number of IPv4 addresses of one interface, its primary one included.
	IPv4PerENI int64 `json:"ipv4PerENI"`
	// IPv6PerENI is the number of IPv6 addresses of one interface; 0 without IPv6.
	IPv6PerENI int64 `json:"ipv6PerENI,omitempty"`
	// Grade is EC2's description: "Up to 10 Gigabit", "4x 100 Gigabit", "Moderate".
	Grade string `json:"grade,omitempty"`
	// Mbps is the sustained bandwidth in Mbit/s; 0 for grades without a number.
	Mbps int64 `json:"mbps,omitempty"`
	// BurstMbps is the peak bandwidth in Mbit/s; 0 when unknown.
	BurstMbps int64 `json:"burstMbps,omitempty"`
	// ENA is "required", "supported" or "unsupported".
	ENA string `json:"ena,omitempty"`
	// EFA is the maximum number of EFA interfaces.
	EFA int64 `json:"efa,omitempty"`
	// EncryptInTransit is true when traffic between such instances is encrypted by the hardware.
	EncryptInTransit bool `json:"encryptInTransit,omitempty"`
	// BandwidthWeightings are the settings by which instances of the type can divide their bandwidth between network and EBS volumes,
	// sorted: "default", "ebs-1", "vpc-1". Empty if the weighting can't be chosen.
	BandwidthWeightings []string `json:"weightings,omitempty"`
}

// CardENIs returns the number of interfaces of a network card; 0 for a card the type does not have.
func (n *Network) CardENIs(card int) int64 {
	switch {
	case card < 0 || int64(card) >= n.Cards:
		return 0
	case card < len(n.ENIsPerCard):
		return n.ENIsPerCard[card]
	default:
		return n.ENIsDefaultCard
	}
}

// EBS describes how an instance type can use EBS volumes.
type EBS struct {
	// Optimized is "default", "supported" or "unsupported".
	Optimized string `json:"optimized,omitempty"`
	// BaseMbps and MaxMbps are the sustained and the maximum bandwidth in Mbit/s; 0 when unknown.
	BaseMbps int64 `json:"baseMbps,omitempty"`
	MaxMbps  int64 `json:"maxMbps,omitempty"`
	// MaxIOPS is the maximum rate of I/O operations per second; 0 when unknown.
	MaxIOPS int64 `json:"maxIops,omitempty"`
	// NVMe is "required", "supported" or "unsupported".
	NVMe string `json:"nvme,omitempty"`
	// MaxAttach is the number of volumes that can be attached; 0 when unknown.
	MaxAttach int64 `json:"maxAttach,omitempty"`
	// AttachLimit is "dedicated", or "shared" when network interfaces use up the same slots.
	AttachLimit string `json:"attachLimit,omitempty"`
}

// LocalStorage is the instance store of a type.
type LocalStorage struct {
	// TotalGB is the size of all disks in decimal gigabytes.
	TotalGB int64 `json:"totalGB"`
	// NVMe is "required", "supported" or "unsupported".
	NVMe string `json:"nvme,omitempty"`
	// Disks by kind and size.
	Disks []Disk `json:"disks,omitempty"`
}

// Disk is a number of equal disks; its JSON is [count, sizeGB, kind].
type Disk struct {
	// Count of disks.
	Count int64
	// SizeGB of one of them, in decimal gigabytes.
	SizeGB int64
	// Kind is "ssd" or "hdd".
	Kind string
}

// MarshalJSON writes [count, sizeGB, kind].
func (d Disk) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]any{d.Count, d.SizeGB, d.Kind})
}

// UnmarshalJSON reads [count, sizeGB, kind].
func (d *Disk) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 3 {
		return fmt.Errorf("a disk is [count, sizeGB, kind], but has %d members", len(parts))
	}
	for i, into := range []any{&d.Count, &d.SizeGB, &d.Kind} {
		if err := json.Unmarshal(parts[i], into); err != nil {
			return fmt.Errorf("member %d of a disk: %w", i, err)
		}
	}
	return nil
}

// GPU is one kind of GPU in a type.
type GPU struct {
	// Name as EC2 writes it, such as "L4".
	Name string `json:"name"`
	// Manufacturer as EC2 writes it: "NVIDIA", "AMD", "Habana".
	Manufacturer string `json:"manufacturer"`
	// Count of whole GPUs: 0 on types that have a part of one.
	Count int64 `json:"count"`
	// MemoryMiB of one GPU, or of the part that the type has.
	MemoryMiB int64 `json:"memMiB,omitempty"`
	// LogicalCount is the number of devices the operating system sees; 0 when EC2 does not say.
	LogicalCount int64 `json:"logicalCount,omitempty"`
	// Partition is the size of each device as a fraction of a whole GPU; 0 for whole GPUs.
	Partition float64 `json:"partition,omitempty"`
}

// Accelerators are the devices of a type that are not GPUs.
type Accelerators struct {
	// Neuron devices (Inferentia, Trainium).
	Neuron []Accelerator `json:"neuron,omitempty"`
	// Inference chips of other makes.
	Inference []Accelerator `json:"inference,omitempty"`
	// FPGA cards.
	FPGA []Accelerator `json:"fpga,omitempty"`
	// Media transcoders.
	Media []Accelerator `json:"media,omitempty"`
}

// Accelerator is one kind of accelerator in a type.
type Accelerator struct {
	// Name as EC2 writes it, such as "Inferentia2".
	Name string `json:"name"`
	// Manufacturer as EC2 writes it; empty for Neuron devices, which are AWS's own.
	Manufacturer string `json:"manufacturer,omitempty"`
	// Count of devices.
	Count int64 `json:"count"`
	// CoresPerDevice of a Neuron device; 0 for others.
	CoresPerDevice int64 `json:"coresPerDevice,omitempty"`
	// MemoryMiB of one device; 0 when unknown.
	MemoryMiB int64 `json:"memMiB,omitempty"`
}

// SpotPrice returns the spot price, in USD per hour, in the i-th zone of the type (Zones[i]), or 0 if there is none. The i-th zone has the
// i-th price. Zones beyond the end of the list of prices have the highest price of the list, so that no price is too low if the list does
// not assign prices to zones.
func (t *Type) SpotPrice(i int) float64 {
	if i < 0 || i >= len(t.Zones) || len(t.SpotUSD) == 0 {
		return 0
	}
	if i < len(t.SpotUSD) {
		return t.SpotUSD[i]
	}
	highest := 0.0
	for _, price := range t.SpotUSD {
		highest = max(highest, price)
	}
	return highest
}
