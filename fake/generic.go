package fake

import (
	"fmt"
	"hash/fnv"
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// These are the label keys of the generic catalogue. All of them are well-known labels in the vocabulary of GenericCapabilities. The .test
// domain is reserved for tests.
const (
	// LabelInstanceFamily is the part of a type's name before the dot, such as "m1" or "c3g".
	LabelInstanceFamily = "fake.drawknife.test/instance-family"
	// LabelInstanceSize is the part of a type's name after the dot, such as "large".
	LabelInstanceSize = "fake.drawknife.test/instance-size"
	// LabelInstanceCPU is the number of cores.
	LabelInstanceCPU = "fake.drawknife.test/instance-cpu"
	// LabelInstanceMemory is the memory in MiB, before the overhead of virtualisation.
	LabelInstanceMemory = "fake.drawknife.test/instance-memory"
	// LabelReservationID names a reservation. GenericTypes does not use this key. Use it for types with reserved offerings.
	LabelReservationID = "fake.drawknife.test/reservation-id"
)

// The kind of node class in GenericCapabilities.
const (
	NodeClassGroup = "fake.drawknife.test"
	NodeClassKind  = "FakeNodeClass"
)

// GenericRegion is the region of the generic catalogue.
const GenericRegion = "test-region-1"

// GenericZones returns the zones of the generic catalogue. The caller owns the slice.
func GenericZones() []string {
	return []string{GenericRegion + "a", GenericRegion + "b", GenericRegion + "c"}
}

// GenericCapabilities describes a cloud that sells GenericTypes: FakeNodeClass, the labels above, three zones, and a CSI driver with its
// own zone label.
func GenericCapabilities() cloudprovider.Capabilities {
	return cloudprovider.Capabilities{
		NodeClasses: []metav1.GroupKind{{Group: NodeClassGroup, Kind: NodeClassKind}},
		Vocabulary: requirements.CoreVocabulary().Merge(requirements.Vocabulary{
			WellKnown: []string{
				LabelInstanceFamily, LabelInstanceSize, LabelInstanceCPU, LabelInstanceMemory, LabelReservationID,
			},
			Aliases: map[string]string{"topology.csi.fake.drawknife.test/zone": corev1.LabelTopologyZone},
		}),
		LabelValues: map[string][]string{
			corev1.LabelTopologyZone:   GenericZones(),
			corev1.LabelTopologyRegion: {GenericRegion},
			corev1.LabelArchStable:     {v1.ArchitectureAmd64, v1.ArchitectureArm64},
			corev1.LabelOSStable:       {string(corev1.Linux)},
			v1.CapacityTypeLabelKey:    {v1.CapacityTypeReserved, v1.CapacityTypeSpot, v1.CapacityTypeOnDemand},
		},
		ReservationIDLabel: LabelReservationID,
		ReservationLabels:  []string{LabelReservationID},
	}
}

// GenericTypes returns a catalogue of n made-up instance types. The same n gives the same catalogue, and the types of a smaller catalogue
// are the first types of a larger one. n is limited to the range from 0 to 100,000.
//
// Each generation has 60 types: six families in ten sizes from 1 to 96 cores. The families are m, c and r with 4, 2 and 8 GiB per core,
// each for amd64 and, with a "g" in the name, for arm64. The names of types are like "m1.2xlarge". Each type is sold on demand and as spot
// in the three zones of GenericZones. Prices are linear in cores and memory, with a few per cent of noise from a hash of the name, so that
// no two types are equally good. The spot price is 25 to 45 % of the on-demand price and differs by zone.
func GenericTypes(n int) []*cloudprovider.InstanceType {
	const most = 100_000
	n = min(max(n, 0), most)
	types := make([]*cloudprovider.InstanceType, 0, n)
	families, sizes := genericFamilies(), genericSizes()
	for i := range n {
		size := sizes[i%len(sizes)]
		family := families[i/len(sizes)%len(families)]
		generation := 1 + i/(len(sizes)*len(families))
		types = append(types, genericType(family, generation, size))
	}
	return types
}

type genericFamily struct {
	letter     string
	arch       string
	gibPerCore int
}

func genericFamilies() []genericFamily {
	return []genericFamily{
		{"m", v1.ArchitectureAmd64, 4}, {"m", v1.ArchitectureArm64, 4},
		{"c", v1.ArchitectureAmd64, 2}, {"c", v1.ArchitectureArm64, 2},
		{"r", v1.ArchitectureAmd64, 8}, {"r", v1.ArchitectureArm64, 8},
	}
}

type genericSize struct {
	name  string
	cores int
}

func genericSizes() []genericSize {
	return []genericSize{
		{"medium", 1}, {"large", 2}, {"xlarge", 4}, {"2xlarge", 8}, {"4xlarge", 16},
		{"8xlarge", 32}, {"12xlarge", 48}, {"16xlarge", 64}, {"18xlarge", 72}, {"24xlarge", 96},
	}
}

// Prices in USD per hour, similar to those of the large clouds.
const (
	pricePerCore   = 0.0315
	pricePerGiB    = 0.0042
	armDiscount    = 0.8
	priceNoise     = 0.05
	spotShareLeast = 0.25
	spotShareRange = 0.20
)

func genericType(family genericFamily, generation int, size genericSize) *cloudprovider.InstanceType {
	familyName := family.letter + strconv.Itoa(generation)
	discount := 1.0
	if family.arch == v1.ArchitectureArm64 {
		familyName += "g"
		discount = armDiscount
	}
	name := familyName + "." + size.name
	gib := size.cores * family.gibPerCore
	onDemand := (pricePerCore*float64(size.cores) + pricePerGiB*float64(gib)) * discount * (1 + priceNoise*(2*fraction(name)-1))
	return &cloudprovider.InstanceType{
		Name: name,
		Requirements: requirements.NewSet(
			requirements.In(corev1.LabelInstanceTypeStable, name),
			requirements.In(corev1.LabelArchStable, family.arch),
			requirements.In(corev1.LabelOSStable, string(corev1.Linux)),
			requirements.In(corev1.LabelTopologyRegion, GenericRegion),
			requirements.DoesNotExist(corev1.LabelWindowsBuild),
			requirements.In(LabelInstanceFamily, familyName),
			requirements.In(LabelInstanceSize, size.name),
			requirements.In(LabelInstanceCPU, strconv.Itoa(size.cores)),
			requirements.In(LabelInstanceMemory, strconv.Itoa(gib<<10)),
			requirements.DoesNotExist(LabelReservationID),
		),
		Offerings: genericOfferings(name, onDemand),
		Capacity:  genericCapacity(size.cores, gib),
		Overhead:  genericOverhead(size.cores),
	}
}

func genericOfferings(name string, onDemand float64) []cloudprovider.Offering {
	offerings := make([]cloudprovider.Offering, 0, 2*len(GenericZones()))
	for _, zone := range GenericZones() {
		share := spotShareLeast + spotShareRange*fraction(name+"/"+zone)
		for _, way := range []struct {
			capacityType string
			price        float64
		}{
			{v1.CapacityTypeSpot, onDemand * share},
			{v1.CapacityTypeOnDemand, onDemand},
		} {
			offerings = append(offerings, cloudprovider.Offering{
				Requirements: requirements.NewSet(
					requirements.In(corev1.LabelTopologyZone, zone),
					requirements.In(v1.CapacityTypeLabelKey, way.capacityType),
				),
				Price:       roundPrice(way.price),
				PriceSource: "generic",
				Available:   true,
			})
		}
	}
	return offerings
}

// virtualisationShare is the approximate share of an instance's memory that its operating system does not get.
const virtualisationShare = 0.075

func genericCapacity(cores, gib int) corev1.ResourceList {
	memory := int64(float64(gib) * (1 - virtualisationShare) * 1024)
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(cores), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(20<<30, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(genericPods(cores), resource.DecimalSI),
	}
}

// genericPods returns the pod limit. For small instances the limit is less than the usual 110, as in networks where each pod uses an
// address of the instance.
func genericPods(cores int) int64 { return int64(min(8+25*cores, 110)) }

// genericOverhead follows the reservations that managed Kubernetes services publish: 6 % of the first core, 1 % of the second, 0.5 % of the
// next two and 0.25 % of the rest; 255 MiB of memory plus 11 MiB per pod; and the kubelet's default eviction thresholds, which are 100 MiB
// of memory and a tenth of the disk.
func genericOverhead(cores int) cloudprovider.Overhead {
	milliCPU := 60.0
	for core := 2; core <= cores; core++ {
		switch {
		case core == 2:
			milliCPU += 10
		case core <= 4:
			milliCPU += 5
		default:
			milliCPU += 2.5
		}
	}
	return cloudprovider.Overhead{
		KubeReserved: corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewMilliQuantity(int64(math.Ceil(milliCPU)), resource.DecimalSI),
			corev1.ResourceMemory:           *resource.NewQuantity((255+11*genericPods(cores))<<20, resource.BinarySI),
			corev1.ResourceEphemeralStorage: *resource.NewQuantity(1<<30, resource.BinarySI),
		},
		EvictionThreshold: corev1.ResourceList{
			corev1.ResourceMemory:           *resource.NewQuantity(100<<20, resource.BinarySI),
			corev1.ResourceEphemeralStorage: *resource.NewQuantity(2<<30, resource.BinarySI),
		},
	}
}

// fraction returns a number in [0, 1) that depends only on the text.
func fraction(text string) float64 {
	h := fnv.New64a()
	fmt.Fprint(h, text)
	// If texts differ only at their end, the high bits of their FNV hashes hardly differ; the multiplication spreads the difference
	mixed := h.Sum64() * 0x9E3779B97F4A7C15
	mixed ^= mixed >> 32
	return float64(mixed%1_000_003) / 1_000_003
}

// roundPrice rounds to a millionth of a USD, so that prices can be printed and parsed without loss.
func roundPrice(price float64) float64 { return math.Round(price*1e6) / 1e6 }
