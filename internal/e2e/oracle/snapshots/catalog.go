package snapshots

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

const catalogName = "all"

// catalog makes the instance types. Prices mostly grow with size, so that the cheapest node is seldom the largest. There are exceptions, so
// that the cheapest node is sometimes the largest.
func (m *maker) catalog() {
	m.s.Catalogs = map[string][]*cloudprovider.InstanceType{catalogName: list(m, "instance types", 4, 12, m.instanceType)}
}

func (m *maker) instanceType() *cloudprovider.InstanceType {
	cores := choose(m, "cores", 2, 4, 1, 8, 16)
	gib := cores * choose(m, "GiB per core", 4, 2, 8)
	pods := choose(m, "pods", 30, 5, 110)
	family := choose(m, "family", "f1", "f2", "f3")
	t := &cloudprovider.InstanceType{
		Name: m.name(fmt.Sprintf("%s.%d", family, cores)),
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewQuantity(int64(cores), resource.DecimalSI),
			corev1.ResourceMemory:           *resource.NewQuantity(int64(gib)<<30, resource.BinarySI),
			corev1.ResourcePods:             *resource.NewQuantity(int64(pods), resource.DecimalSI),
			corev1.ResourceEphemeralStorage: amount("20Gi"),
		},
		Overhead: cloudprovider.Overhead{KubeReserved: corev1.ResourceList{corev1.ResourceCPU: amount("80m"), corev1.ResourceMemory: amount("255Mi")}},
	}
	if m.with(Extended, "has gpu", 25) {
		t.Capacity[gpuName] = *resource.NewQuantity(int64(m.number("gpus", 1, 4)), resource.DecimalSI)
	}
	if m.with(OddCapacities, "odd", 30) {
		m.makeOdd(t)
	}
	if m.has(Volumes) && m.with(AttachLimits, "attach limit", 50) {
		t.VolumeLimits = map[string]int32{driver: int32(m.number("attachable", 1, 4))}
	}
	zones := m.zones
	if m.chance("not in all zones", 25) {
		zones = distinct(some(m, "zones", m.zones))
	}
	t.Requirements = requirements.NewSet(
		requirements.In(corev1.LabelInstanceTypeStable, t.Name),
		requirements.In(corev1.LabelArchStable, choose(m, "arch", "amd64", "arm64")),
		requirements.In(corev1.LabelOSStable, "linux"),
		requirements.In(corev1.LabelTopologyRegion, "region"),
		requirements.In(zoneKey, zones...),
		requirements.In(familyKey, family),
		requirements.In(coresKey, strconv.Itoa(cores)),
		requirements.DoesNotExist(corev1.LabelWindowsBuild),
	)
	price := (float64(cores)*0.03 + float64(gib)*0.004) * float64(m.number("price", 80, 130)) / 100
	var kinds []string
	for z, zone := range zones {
		for _, kind := range []string{v1.CapacityTypeOnDemand, v1.CapacityTypeSpot} {
			o := cloudprovider.Offering{
				Requirements: requirements.NewSet(requirements.In(zoneKey, zone), requirements.In(capacityKey, kind)),
				Price:        price * (1 + 0.01*float64(z)),
				Available:    !m.with(Offerings, "sold out", 15),
			}
			if kind == v1.CapacityTypeSpot {
				if m.chance("no spot", 30) {
					continue
				}
				o.Price *= 0.4
			}
			if m.with(Offerings, "less memory", 8) {
				o.Capacity = corev1.ResourceList{corev1.ResourceMemory: *resource.NewQuantity(int64(gib)<<29, resource.BinarySI)}
			}
			kinds = append(kinds, kind)
			t.Offerings = append(t.Offerings, o)
		}
	}
	if m.with(Reservations, "reserved", 30) {
		kinds = append(kinds, m.reserve(t, zones)...)
	} else if m.has(Reservations) {
		t.Requirements = t.Requirements.With(requirements.DoesNotExist(reservationKey))
	}
	t.Requirements = t.Requirements.With(requirements.In(capacityKey, distinct(kinds)...))
	return t
}

// makeOdd changes the type's amounts to values that break calculations with round numbers.
func (m *maker) makeOdd(t *cloudprovider.InstanceType) {
	switch m.number("oddity", 0, 5) {
	case 0:
		t.Capacity[corev1.ResourcePods] = *resource.NewQuantity(int64(m.number("few pods", 0, 3)), resource.DecimalSI)
	case 1:
		t.Capacity[corev1.ResourceCPU] = amount(choose(m, "odd cores", "1930m", "999m", "2001m"))
	case 2:
		t.Capacity[corev1.ResourceMemory] = amount(choose(m, "odd memory", "7450000001", "1073741823", "3221225471500m"))
	case 3: // the type's overhead is larger than its capacity
		t.Overhead.SystemReserved = corev1.ResourceList{corev1.ResourceMemory: amount("9Gi"), corev1.ResourceCPU: amount("1500m")}
	case 4:
		delete(t.Capacity, corev1.ResourceEphemeralStorage)
	case 5:
		t.Overhead.EvictionThreshold = corev1.ResourceList{corev1.ResourceMemory: amount("100000001"), gpuName: amount("1")}
	}
}

// reserve adds reserved offerings and returns their capacity types. Several types and zones share a reservation. The offerings of one
// reservation need not state the same remaining capacity.
func (m *maker) reserve(t *cloudprovider.InstanceType, zones []string) []string {
	var kinds, ids []string
	for range m.number("reserved offerings", 1, 2) {
		id := choose(m, "reservation", "r-1", "r-2", "r-3")
		if slices.Contains(ids, id) {
			break
		}
		ids = append(ids, id)
		o := cloudprovider.Offering{
			Requirements: requirements.NewSet(requirements.In(zoneKey, choose(m, "reserved zone", zones...)), requirements.In(capacityKey, v1.CapacityTypeReserved), requirements.In(reservationKey, id)),
			Price:        choose(m, "reserved price", 0, 0.001, 0.05), Available: !m.chance("reservation closed", 10),
			ReservationCapacity: m.number("left", 0, 3),
		}
		t.Offerings = append(t.Offerings, o)
		kinds = append(kinds, v1.CapacityTypeReserved)
	}
	if m.chance("type states reservations", 50) {
		t.Requirements = t.Requirements.With(requirements.In(reservationKey, distinct(ids)...))
	}
	return kinds
}
