package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Keys of Catalog.Sources in a catalogue made by ParseDescribeInstanceTypes.
const (
	hardwareSource = "hardware"
	pricesSource   = "prices"
	branchSource   = "branchENIs"
)

// ParseDescribeInstanceTypes makes a catalogue from the output of `aws ec2 describe-instance-types --output json` and a prices file (see
// Prices). Fields of EC2's answer that this package does not know are ignored, because EC2 adds new fields every year; unknown fields in
// the prices file are errors. EC2's answer does not say how many branch interfaces a type can have. This number is taken from the embedded
// catalogue. It is unknown for types that are not in the embedded catalogue.
func ParseDescribeInstanceTypes(answer, prices io.Reader) (*Catalog, error) {
	data, err := readAll(answer, "instance types")
	if err != nil {
		return nil, err
	}
	priceData, err := readAll(prices, "prices")
	if err != nil {
		return nil, err
	}
	builtIn, err := Embedded()
	if err != nil {
		return nil, err
	}
	return parseDescribe(data, priceData, builtIn)
}

func parseDescribe(answer, prices []byte, builtIn *Catalog) (*Catalog, error) {
	p, err := parsePrices(prices)
	if err != nil {
		return nil, err
	}
	var body struct {
		InstanceTypes []json.RawMessage
	}
	if err := json.Unmarshal(answer, &body); err != nil {
		return nil, fmt.Errorf("reading the instance types: %w", describeJSONError(err))
	}
	if body.InstanceTypes == nil {
		return nil, &FieldError{Field: "InstanceTypes", Problem: "is missing: the output of `aws ec2 describe-instance-types --output json` is expected"}
	}
	c := Catalog{
		Region: p.Region,
		Zones:  p.Zones,
		Sources: map[string]string{
			hardwareSource: "aws ec2 describe-instance-types",
			pricesSource:   strings.TrimSuffix(p.Source+", "+p.AsOf, ", "),
			branchSource:   branchTable(),
		},
		Types: make([]Type, len(body.InstanceTypes)),
	}
	for i, record := range body.InstanceTypes {
		var info instanceTypeInfo
		if err := json.Unmarshal(record, &info); err != nil {
			return nil, answerError(i, info.InstanceType, err)
		}
		c.Types[i] = info.facts()
		if err := p.apply(&c.Types[i], pricesSource); err != nil {
			return nil, err
		}
	}
	setBranches(c.Types, builtIn)
	return New(c)
}

// answerError is like recordError, but for a record of EC2's answer, of which only the name is known.
func answerError(i int, name string, err error) error {
	record, marshalErr := json.Marshal(map[string]string{"name": name})
	if marshalErr != nil {
		return err
	}
	return recordError(i, record, err)
}

// instanceTypeInfo contains the fields of an entry of InstanceTypes in EC2's answer that this package reads. The field names are those of
// the API.
type instanceTypeInfo struct {
	InstanceType                  string
	BareMetal                     bool
	BurstablePerformanceSupported bool
	CurrentGeneration             bool
	DedicatedHostsSupported       bool
	Hypervisor                    string
	NitroEnclavesSupport          string
	SupportedUsageClasses         []string
	SupportedVirtualizationTypes  []string
	ProcessorInfo                 struct {
		Manufacturer             string
		SupportedArchitectures   []string
		SupportedFeatures        []string
		SustainedClockSpeedInGhz float64
	}
	VCpuInfo struct {
		DefaultVCpus int64
		DefaultCores int64
	}
	MemoryInfo          memoryInfo
	InstanceStorageInfo *struct {
		TotalSizeInGB int64
		NvmeSupport   string
		Disks         []struct {
			Count    int64
			SizeInGB int64
			Type     string
		}
	}
	EbsInfo struct {
		EbsOptimizedSupport   string
		NvmeSupport           string
		MaximumEbsAttachments int64
		AttachmentLimitType   string
		EbsOptimizedInfo      struct {
			BaselineBandwidthInMbps int64
			MaximumBandwidthInMbps  int64
			MaximumIops             int64
		}
	}
	NetworkInfo struct {
		NetworkPerformance           string
		MaximumNetworkInterfaces     int64
		MaximumNetworkCards          int64
		DefaultNetworkCardIndex      int64
		NetworkCards                 []networkCardInfo
		Ipv4AddressesPerInterface    int64
		Ipv6AddressesPerInterface    int64
		EnaSupport                   string
		EncryptionInTransitSupported bool
		BandwidthWeightings          []string
		EfaInfo                      struct {
			MaximumEfaInterfaces int64
		}
	}
	GpuInfo struct {
		Gpus []struct {
			Name             string
			Manufacturer     string
			Count            int64
			LogicalGpuCount  int64
			GpuPartitionSize float64
			MemoryInfo       memoryInfo
		}
	}
	NeuronInfo struct {
		NeuronDevices []deviceInfo
	}
	InferenceAcceleratorInfo struct {
		Accelerators []deviceInfo
	}
	FpgaInfo struct {
		Fpgas []deviceInfo
	}
	MediaAcceleratorInfo struct {
		Accelerators []deviceInfo
	}
	PlacementGroupInfo struct {
		SupportedStrategies []string
	}
}

type memoryInfo struct {
	SizeInMiB int64
}

type networkCardInfo struct {
	NetworkCardIndex         int64
	MaximumNetworkInterfaces int64
	BaselineBandwidthInGbps  float64
	PeakBandwidthInGbps      float64
}

type deviceInfo struct {
	Name         string
	Manufacturer string
	Count        int64
	MemoryInfo   memoryInfo
	CoreInfo     struct {
		Count int64
	}
}

// facts converts the record to this package's type, without zones and prices.
func (info *instanceTypeInfo) facts() Type {
	t := Type{
		Name:                info.InstanceType,
		VCPUs:               info.VCpuInfo.DefaultVCpus,
		Cores:               info.VCpuInfo.DefaultCores,
		MemoryMiB:           info.MemoryInfo.SizeInMiB,
		Architectures:       info.ProcessorInfo.SupportedArchitectures,
		CPUManufacturer:     info.ProcessorInfo.Manufacturer,
		ClockGHz:            info.ProcessorInfo.SustainedClockSpeedInGhz,
		CPUFeatures:         info.ProcessorInfo.SupportedFeatures,
		Hypervisor:          info.Hypervisor,
		BareMetal:           info.BareMetal,
		Burstable:           info.BurstablePerformanceSupported,
		CurrentGeneration:   info.CurrentGeneration,
		Enclaves:            info.NitroEnclavesSupport == "supported",
		DedicatedHosts:      info.DedicatedHostsSupported,
		Network:             info.network(),
		PlacementStrategies: slices.Sorted(slices.Values(info.PlacementGroupInfo.SupportedStrategies)),
		UsageClasses:        slices.Sorted(slices.Values(info.SupportedUsageClasses)),
		EBS: EBS{
			Optimized:   info.EbsInfo.EbsOptimizedSupport,
			BaseMbps:    info.EbsInfo.EbsOptimizedInfo.BaselineBandwidthInMbps,
			MaxMbps:     info.EbsInfo.EbsOptimizedInfo.MaximumBandwidthInMbps,
			MaxIOPS:     info.EbsInfo.EbsOptimizedInfo.MaximumIops,
			NVMe:        info.EbsInfo.NvmeSupport,
			MaxAttach:   info.EbsInfo.MaximumEbsAttachments,
			AttachLimit: info.EbsInfo.AttachmentLimitType,
		},
		Accelerators: Accelerators{
			Neuron:    accelerators(info.NeuronInfo.NeuronDevices),
			Inference: accelerators(info.otherInference()),
			FPGA:      accelerators(info.FpgaInfo.Fpgas),
			Media:     accelerators(info.MediaAcceleratorInfo.Accelerators),
		},
	}
	if len(info.SupportedVirtualizationTypes) != 1 || info.SupportedVirtualizationTypes[0] != "hvm" {
		t.VirtualizationTypes = info.SupportedVirtualizationTypes
	}
	if store := info.InstanceStorageInfo; store != nil {
		t.LocalStorage = &LocalStorage{TotalGB: store.TotalSizeInGB, NVMe: store.NvmeSupport}
		for _, d := range store.Disks {
			t.LocalStorage.Disks = append(t.LocalStorage.Disks, Disk{Count: d.Count, SizeGB: d.SizeInGB, Kind: d.Type})
		}
	}
	for _, g := range info.GpuInfo.Gpus {
		gpu := GPU{Name: g.Name, Manufacturer: g.Manufacturer, Count: g.Count, MemoryMiB: g.MemoryInfo.SizeInMiB}
		// EC2 also sets these fields for whole GPUs, where they add no information.
		if g.GpuPartitionSize > 0 && g.GpuPartitionSize < 1 {
			gpu.LogicalCount, gpu.Partition = g.LogicalGpuCount, g.GpuPartitionSize
		}
		t.GPUs = append(t.GPUs, gpu)
	}
	return t
}

func (info *instanceTypeInfo) network() Network {
	from := &info.NetworkInfo
	n := Network{
		ENIs:             from.MaximumNetworkInterfaces,
		ENIsDefaultCard:  from.MaximumNetworkInterfaces,
		Cards:            from.MaximumNetworkCards,
		IPv4PerENI:       from.Ipv4AddressesPerInterface,
		IPv6PerENI:       from.Ipv6AddressesPerInterface,
		Grade:            from.NetworkPerformance,
		Mbps:             sustainedMbps(from.NetworkPerformance, from.NetworkCards),
		ENA:              from.EnaSupport,
		EFA:              from.EfaInfo.MaximumEfaInterfaces,
		EncryptInTransit: from.EncryptionInTransitSupported,

		BandwidthWeightings: slices.Sorted(slices.Values(from.BandwidthWeightings)),
	}
	differ, peak := false, 0.0
	perCard := make([]int64, 0, len(from.NetworkCards))
	for _, card := range from.NetworkCards {
		perCard = append(perCard, card.MaximumNetworkInterfaces)
		differ = differ || card.MaximumNetworkInterfaces != perCard[0]
		peak += card.PeakBandwidthInGbps
		if card.NetworkCardIndex == from.DefaultNetworkCardIndex {
			n.ENIsDefaultCard = card.MaximumNetworkInterfaces
		}
	}
	if differ {
		n.ENIsPerCard = perCard
	}
	n.BurstMbps = mbps(peak)
	return n
}

// otherInference returns the inference accelerators, except those that EC2 also lists among Neuron devices: it reports Inferentia in both
// lists.
func (info *instanceTypeInfo) otherInference() []deviceInfo {
	neuron := func(d deviceInfo) bool {
		return slices.ContainsFunc(info.NeuronInfo.NeuronDevices, func(n deviceInfo) bool { return n.Name == d.Name })
	}
	return slices.DeleteFunc(slices.Clone(info.InferenceAcceleratorInfo.Accelerators), neuron)
}

func accelerators(devices []deviceInfo) []Accelerator {
	var out []Accelerator
	for _, d := range devices {
		out = append(out, Accelerator{
			Name:           d.Name,
			Manufacturer:   d.Manufacturer,
			Count:          d.Count,
			CoresPerDevice: d.CoreInfo.Count,
			MemoryMiB:      d.MemoryInfo.SizeInMiB,
		})
	}
	return out
}

// sustainedMbps returns the bandwidth in Mbit/s that EC2 guarantees for a grade. An exact grade ("100 Gigabit", "4x 100 Gigabit")
// guarantees its own bandwidth, and an "Up to" grade the sum of the cards' baselines. For Low, Moderate and High, which guarantee nothing,
// the result is 0. The rule agrees with Amazon's published tables of baseline bandwidth on all but three of 1,373 types.
func sustainedMbps(grade string, cards []networkCardInfo) int64 {
	if strings.HasPrefix(grade, "Up to ") {
		sum := 0.0
		for _, card := range cards {
			sum += card.BaselineBandwidthInGbps
		}
		return mbps(sum)
	}
	number, ok := strings.CutSuffix(grade, " Gigabit")
	if !ok {
		return 0
	}
	times := int64(1)
	if n, rest, ok := strings.Cut(number, "x "); ok {
		parsed, err := strconv.ParseInt(n, 10, 32)
		if err != nil {
			return 0
		}
		times, number = parsed, rest
	}
	gbps, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0
	}
	return mbps(gbps * float64(times))
}

// mbps rounds Gbit/s to whole Mbit/s. For an impossible value it returns -1, which validate refuses.
func mbps(gbps float64) int64 {
	v := math.Round(gbps * 1000)
	if math.IsNaN(v) || v < 0 || v > maxRate {
		return -1
	}
	return int64(v)
}
