package instancetype

import (
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
)

// LabelInstanceGPUPartition is the share of a GPU that each device of the instance has: "1" for whole GPUs, "0.125" for an eighth. Only
// drawknife has this label. It is absent on types without a GPU and on types with several kinds of GPUs.
const LabelInstanceGPUPartition = "drawknife.dev/instance-gpu-partition"

// LabelOutpostID is the ID of the Outpost that the instance runs on: "op-0123456789abcdef0". Instances in the region do not have this
// label.
const LabelOutpostID = "drawknife.dev/outpost-id"

// labeller makes the labels of all types, one type at a time. All types state the same keys, so the keys are sorted only once. The field
// absent has a requirement for each key that says that the label is absent. The labels of a type replace these requirements. Requirements
// that types have in common are created once and shared.
type labeller struct {
	plan   *plan
	region string
	absent []requirements.Requirement // sorted by key
	place  map[string]int             // index of each key in absent and reqs
	reqs   []requirements.Requirement // labels of the present type; a Set copies its argument
	shared map[label]placed
	zones  map[string]zoneRequirements // keys are the type's zones as a text
	// these values are the same for all types
	tenancy    requirements.Requirement
	partitions requirements.Requirement
}

type label struct{ key, value string }

// placed is a requirement with its index, which is negative for a key that is not in absent.
type placed struct {
	requirements.Requirement
	place int
}

// zoneRequirements are a type's requirements for its zones.
type zoneRequirements struct {
	zone, id requirements.Requirement
}

func newLabeller(p *plan, region string) *labeller {
	l := &labeller{
		plan:   p,
		region: region,
		place:  map[string]int{},
		shared: map[label]placed{},
		zones:  map[string]zoneRequirements{},

		tenancy:    tenancies(p.Tenancy),
		partitions: requirements.In(awsv1.LabelPlacementGroupPartition, partitions(p.PlacementPartitions)...),
	}
	for _, key := range Vocabulary().WellKnown { // sorted
		if key != poolv1.NodePoolLabelKey {
			l.place[key] = len(l.absent)
			l.absent = append(l.absent, requirements.DoesNotExist(key))
		}
	}
	return l
}

// tenancies returns the tenancies that instances can have if Settings.Tenancy is tenancy.
func tenancies(tenancy string) requirements.Requirement {
	if tenancy == "" || tenancy == TenancyApart {
		return requirements.In(awsv1.LabelInstanceTenancy, awsv1.TenancyDefault, awsv1.TenancyDedicated)
	}
	return requirements.In(awsv1.LabelInstanceTenancy, tenancy)
}

// state sets a requirement at its index.
func (l *labeller) state(r requirements.Requirement) {
	if i, ok := l.place[r.Key()]; ok {
		l.reqs[i] = r
		return
	}
	l.reqs = append(l.reqs, r)
}

// is sets a label to one value.
func (l *labeller) is(key, value string) {
	r, ok := l.shared[label{key, value}]
	if !ok {
		r = placed{Requirement: requirements.In(key, value), place: -1}
		if i, ok := l.place[key]; ok {
			r.place = i
		}
		l.shared[label{key, value}] = r
	}
	if r.place < 0 {
		l.reqs = append(l.reqs, r.Requirement)
		return
	}
	l.reqs[r.place] = r.Requirement
}

// number sets a label to a whole number.
func (l *labeller) number(key string, value int64) { l.is(key, strconv.FormatInt(value, 10)) }

// wording sets a label to a string from EC2, which may be empty.
func (l *labeller) wording(key, text string) {
	if value := kebab(text); value != "" {
		l.is(key, value)
	}
}

// requirements returns all labels of a type. Labels for which it sets no value are absent, so that a pod that requires such a label never
// gets the type. The labels of reservations are also absent here, because only offerings have them.
func (l *labeller) requirements(t *catalog.Type) requirements.Set {
	l.reqs = append(l.reqs[:0], l.absent...)
	l.kubernetes(t)
	l.naming(t)
	l.hardware(t)
	l.devices(t)
	l.state(l.tenancy)
	l.placement()
	return requirements.NewSet(l.reqs...)
}

// kubernetes sets the labels defined by Kubernetes, and the capacity type.
func (l *labeller) kubernetes(t *catalog.Type) {
	// The requirement for the name is unique to the type, so it is not shared.
	l.state(requirements.In(corev1.LabelInstanceTypeStable, t.Name))
	l.is(corev1.LabelArchStable, architecture(t))
	if build := l.plan.family.windowsBuild; build != "" {
		l.is(corev1.LabelOSStable, string(corev1.Windows))
		l.is(corev1.LabelWindowsBuild, build)
	} else {
		l.is(corev1.LabelOSStable, string(corev1.Linux))
	}
	l.is(corev1.LabelTopologyRegion, l.region)
	zones := l.zoneRequirements(t)
	l.state(zones.zone)
	l.state(zones.id)
	var capacityTypes []string
	for _, usage := range t.UsageClasses {
		if usage == poolv1.CapacityTypeOnDemand || usage == poolv1.CapacityTypeSpot {
			capacityTypes = append(capacityTypes, usage)
		}
	}
	l.state(requirements.In(poolv1.CapacityTypeLabelKey, capacityTypes...))
}

// zoneRequirements returns the requirements of the type's zones. Types that are offered in the same zones share these requirements.
func (l *labeller) zoneRequirements(t *catalog.Type) zoneRequirements {
	var key [16]byte
	text := key[:0]
	for _, i := range t.Zones {
		text = strconv.AppendInt(append(text, ' '), int64(i), 10)
	}
	if known, ok := l.zones[string(text)]; ok {
		return known
	}
	var names, ids []string
	for _, i := range t.Zones {
		if zone := l.plan.zones[i]; zone.usable {
			names = append(names, zone.name)
			if zone.id != "" {
				ids = append(ids, zone.id)
			}
		}
	}
	made := zoneRequirements{
		zone: requirements.In(corev1.LabelTopologyZone, names...),
		id:   requirements.In(awsv1.LabelTopologyZoneID, ids...),
	}
	l.zones[string(text)] = made
	return made
}

// naming sets the labels derived from the type's name.
func (l *labeller) naming(t *catalog.Type) {
	if category, generation, ok := categoryAndGeneration(t.Name); ok {
		l.is(awsv1.LabelInstanceCategory, category)
		l.is(awsv1.LabelInstanceGeneration, generation)
	}
	family, size, ok := strings.Cut(t.Name, ".")
	if ok && !strings.Contains(size, ".") {
		l.is(awsv1.LabelInstanceFamily, family)
		l.is(awsv1.LabelInstanceSize, size)
	}
	l.is(awsv1.LabelInstanceCapabilityFlex, strconv.FormatBool(strings.Contains(family, "-flex")))
}

// hardware sets the labels of processor, memory, disks, hypervisor and network.
func (l *labeller) hardware(t *catalog.Type) {
	l.number(awsv1.LabelInstanceCPU, t.VCPUs)
	l.wording(awsv1.LabelInstanceCPUManufacturer, t.CPUManufacturer)
	l.number(awsv1.LabelInstanceCPUSustainedClockSpeedMhz, int64(math.Round(t.ClockGHz*1000)))
	l.number(awsv1.LabelInstanceMemory, t.MemoryMiB)
	if t.EBS.Optimized == "default" && t.EBS.MaxMbps > 0 {
		l.number(awsv1.LabelInstanceEBSBandwidth, t.EBS.MaxMbps)
	}
	if t.LocalStorage != nil && t.LocalStorage.NVMe != "unsupported" {
		l.number(awsv1.LabelInstanceLocalNVME, t.LocalStorage.TotalGB)
	}
	l.is(awsv1.LabelInstanceHypervisor, t.Hypervisor)
	l.is(awsv1.LabelNitroSandbox, strconv.FormatBool(t.Enclaves))
	if t.Network.Mbps > 0 {
		l.number(awsv1.LabelInstanceNetworkBandwidth, t.Network.Mbps)
	}
	l.is(awsv1.LabelInstanceEncryptionInTransitSupported, strconv.FormatBool(t.Network.EncryptInTransit))
}

// devices sets the labels of GPUs and accelerators. If an instance has several kinds of a device, there is no single value, and the label
// is absent.
func (l *labeller) devices(t *catalog.Type) {
	if len(t.GPUs) == 1 {
		gpu := t.GPUs[0]
		l.wording(awsv1.LabelInstanceGPUName, gpu.Name)
		l.wording(awsv1.LabelInstanceGPUManufacturer, gpu.Manufacturer)
		l.number(awsv1.LabelInstanceGPUCount, gpu.Count)
		l.number(awsv1.LabelInstanceGPUMemory, gpu.MemoryMiB)
		l.is(LabelInstanceGPUPartition, partition(gpu))
	}
	neuron, inference := t.Accelerators.Neuron, t.Accelerators.Inference
	switch {
	case len(neuron) == 1:
		l.accelerator(neuron[0], "aws")
	case len(neuron) == 0 && len(inference) == 1:
		l.accelerator(inference[0], inference[0].Manufacturer)
	}
}

// partition formats the share of a GPU without trailing zeros.
func partition(gpu catalog.GPU) string {
	if gpu.Partition > 0 && gpu.Partition < 1 {
		return strconv.FormatFloat(gpu.Partition, 'f', -1, 64)
	}
	return "1"
}

func (l *labeller) accelerator(a catalog.Accelerator, manufacturer string) {
	l.wording(awsv1.LabelInstanceAcceleratorName, a.Name)
	l.wording(awsv1.LabelInstanceAcceleratorManufacturer, manufacturer)
	l.number(awsv1.LabelInstanceAcceleratorCount, a.Count)
}

// placement sets the labels of the class's placement group.
func (l *labeller) placement() {
	if l.plan.PlacementGroupID == "" {
		return
	}
	l.is(awsv1.LabelPlacementGroupID, l.plan.PlacementGroupID)
	l.state(l.partitions)
}

// partitions returns the numbers of a placement group's partitions, from 1.
func partitions(n int32) []string {
	var out []string
	for i := range n {
		out = append(out, strconv.Itoa(int(i)+1))
	}
	return out
}

// architecture returns Kubernetes' name of the type's first architecture that has such a name, or "" if no architecture has one.
func architecture(t *catalog.Type) string {
	for _, a := range t.Architectures {
		switch a {
		case "x86_64":
			return poolv1.ArchitectureAmd64
		case "arm64":
			return poolv1.ArchitectureArm64
		}
	}
	return ""
}

// kebab converts EC2's text to a label value: lower case, hyphens for spaces, and without characters that are invalid in label values, such
// as the brackets in "VU47P (half)".
func kebab(text string) string {
	legal := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		default:
			return -1
		}
	}, strings.ToLower(text))
	return strings.Trim(legal, "-_.")
}

// categoryAndGeneration splits a type's name: letters, possibly the memory as in "-6tb", the generation's digits, and a rest with a dot.
func categoryAndGeneration(name string) (category, generation string, ok bool) {
	letters := span(name, func(c byte) bool { return c >= 'a' && c <= 'z' })
	rest := name[letters:]
	if digits, found := strings.CutPrefix(rest, "-"); found {
		n := span(digits, isDigit)
		after, isMemory := strings.CutPrefix(digits[n:], "tb")
		if n == 0 || !isMemory {
			return "", "", false
		}
		rest = after
	}
	digits := span(rest, isDigit)
	if letters == 0 || digits == 0 || !strings.Contains(rest[digits:], ".") {
		return "", "", false
	}
	return name[:letters], rest[:digits], true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// span returns the length of the longest prefix of the text whose bytes all satisfy the predicate.
func span(text string, in func(byte) bool) int {
	n := 0
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}
