package cloudprovider

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// InstanceType is one type of instance that a provider can launch, available or not. Once returned, it is shared and nobody may change it.
// Planners compare instance types by pointer, to share work between NodePools.
type InstanceType struct {
	// Name is the value of the node.kubernetes.io/instance-type label.
	Name string `json:"name"`
	// Requirements state the labels of a node of this type. They have every key of the provider's vocabulary, either as In with the value
	// or values, or as DoesNotExist (CP-CATALOG-03). Keys that differ by offering (zone, capacity type, reservation) may be left out here,
	// because the requirements of the offering override these.
	Requirements requirements.Set `json:"requirements"`
	// Offerings are the ways to buy the type; their requirement sets are unique (CP-CATALOG-05).
	Offerings []Offering `json:"offerings"`
	// Capacity is the capacity of the whole instance, as node.status.capacity will show it.
	Capacity corev1.ResourceList `json:"capacity"`
	// Overhead is the part that pods can't use: Capacity - Overhead.Total() is allocatable.
	Overhead Overhead `json:"overhead,omitzero"`
	// VolumeLimits is the number of volumes that an instance of the type can attach for pods, by CSI driver. It is the value that the
	// driver will report in CSINode.spec.drivers[].allocatable.count once the instance has joined. A driver that is not listed has no
	// limit; nil means that no driver has a limit (CP-CATALOG-15).
	VolumeLimits map[string]int32 `json:"volumeLimits,omitempty"`
	// NotKnown are the resources whose amount the provider does not know, sorted. Capacity does not contain them, so no pod that requests
	// such a resource is planned on this type. Explanations of plans give this reason. Nil means that all amounts are known.
	NotKnown []corev1.ResourceName `json:"notKnown,omitempty"`
	// Devices are the device pools that drivers of Dynamic Resource Allocation will publish on an instance of the type, once they run
	// there. Nil means no devices: no pod whose ResourceClaims need devices is planned on this type (CP-CATALOG-16).
	Devices []DevicePool `json:"devices,omitempty"`
}

// DevicePool is the pool that one driver will publish in ResourceSlices for an instance. The pool contains all of its devices, and belongs
// to this instance only.
type DevicePool struct {
	// Driver is the name of the driver, "gpu.nvidia.com" for instance. Several pools of one driver differ in their Suffix.
	Driver string `json:"driver"`
	// Suffix is appended to the instance's name to form the name of the pool. Most drivers have one pool, which has the name of the
	// instance.
	Suffix string `json:"suffix,omitempty"`
	// Devices have unique names within the pool. Attributes that differ from instance to instance, such as a serial number, are left out.
	// An attribute that is only compared among the devices of an instance, such as the PCIe root, may have a placeholder value.
	Devices []resourcev1.Device `json:"devices"`
	// SharedCounters are the counters that partitions of devices share; Devices consume only these counters.
	SharedCounters []resourcev1.CounterSet `json:"sharedCounters,omitempty"`
	// Bindings are attributes of devices whose values depend on the offering that is launched. Nil means that there are no such attributes.
	Bindings []AttributeBinding `json:"bindings,omitempty"`
}

// Overhead is the part of an instance's capacity that is not available to pods. A nil list means no overhead.
type Overhead struct {
	// KubeReserved is reserved for Kubernetes' own daemons (kubelet --kube-reserved).
	KubeReserved corev1.ResourceList `json:"kubeReserved,omitempty"`
	// SystemReserved is reserved for the operating system (kubelet --system-reserved).
	SystemReserved corev1.ResourceList `json:"systemReserved,omitempty"`
	// EvictionThreshold is the hard eviction threshold (kubelet --eviction-hard).
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold,omitempty"`
}

// Offering is one way to buy an instance type: a zone, a capacity type, perhaps a reservation.
type Offering struct {
	// Requirements have exactly one value per key. There are at least topology.kubernetes.io/zone and karpenter.sh/capacity-type; a
	// reserved offering also names its reservation. The node has no label for keys that only other offerings state.
	Requirements requirements.Set `json:"requirements"`
	// Price is in USD per hour; finite and >= 0 (> 0 except for reservations that are already paid for).
	Price float64 `json:"price"`
	// PriceSource is the source of the price and its date, for people. Optional.
	PriceSource string `json:"priceSource,omitempty"`
	// PriceBasis says how reliable the price is; nil if this is not known. Plans summarize it: see Plan.Prices in package
	// scheduling/planning.
	PriceBasis *PriceBasis `json:"priceBasis,omitempty"`
	// InterruptionRate says how often such instances are taken back; nil if this is not known, or if they are never taken back. Planners
	// don't use it directly: package scheduling/spotrisk can make terms of the cost model from it.
	InterruptionRate *InterruptionRate `json:"interruptionRate,omitempty"`
	// Available is false while the provider expects launches to fail because of missing capacity.
	Available bool `json:"available"`
	// ReservationCapacity is the number of instances left in the reservation; used only if the capacity type is reserved.
	ReservationCapacity int `json:"reservationCapacity,omitempty"`
	// ReservationEnds is the time at which instances of the reservation must be free of pods, because they are taken back when the
	// reservation ends. All offerings of a reservation have the same time. Pods whose run time is known are planned there only if they
	// would finish by then. Zero means that the reservation has no end, or that its instances may run after its end. Used only if the
	// capacity type is reserved.
	ReservationEnds time.Time `json:"reservationEnds,omitzero"`
	// Capacity overrides entries of the type's Capacity for instances bought this way; nil changes nothing.
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Overhead overrides entries of the type's Overhead for instances bought this way; nil changes nothing.
	Overhead *Overhead `json:"overhead,omitempty"`
}
