package instancetype

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Resolve converts the catalogue to the instance types that pools of a node class can launch, sorted by name. A nil class is the default
// class: AL2023 without further settings. It resolves all types or none: for invalid settings it returns a *SettingError, wrapped with the
// class's name.
//
// It leaves out types that can never be nodes of the class: types of an architecture without an operating system, without an offering in
// the usable zones, or too small for what the class reserves. A type that merely can't be launched with the class (see Incompatible and
// ReasonNoImage) is listed with its offerings unavailable.
//
// The result is shared: nobody may change it. Planners identify instance types by pointer, so resolve once per class (or once per
// Settings.Key) and give all its pools the same list.
func Resolve(c *catalog.Catalog, class *awsv1.EC2NodeClass, o Options) ([]*cloudprovider.InstanceType, error) {
	s, err := NewSettings(c, class, o)
	if err != nil {
		return nil, err
	}
	types, err := ResolveSettings(c, s)
	if err != nil && class != nil {
		return nil, fmt.Errorf("node class %q: %w", class.Name, err)
	}
	return types, err
}

// ResolveSettings is like Resolve, for settings that do not come from a node class.
func ResolveSettings(c *catalog.Catalog, s Settings) ([]*cloudprovider.InstanceType, error) {
	p, err := prepare(c, s)
	if err != nil {
		return nil, err
	}
	var (
		shapes  = shapesOf(c, p)
		market  = newMarket(c, p)
		records = make([]cloudprovider.InstanceType, len(shapes))
		out     = make([]*cloudprovider.InstanceType, 0, len(shapes))
	)
	for i := range shapes {
		offerings := market.of(&shapes[i])
		if len(offerings) == 0 {
			continue
		}
		records[i] = shapes[i].Type
		records[i].Offerings = offerings
		out = append(out, &records[i])
	}
	return out, nil
}

// Shape is an instance type as configured by a node class, without offerings and prices.
type Shape struct {
	// Facts are the catalogue's; do not change them.
	Facts *catalog.Type
	// Type contains everything except the offerings. Its lists are shared with other shapes: do not change them.
	Type cloudprovider.InstanceType
	// Incompatible says why the type can't be launched with the settings; empty if it can (see Incompatible and ReasonNoImage).
	Incompatible string
	// LicenceUSD is the price of the operating system's licence, in USD per hour, which is added to the Linux price of an instance: the
	// Windows licence, or 0. Prices of reservations, which are already paid for, do not contain it.
	LicenceUSD float64
	// tenancy is Settings.Tenancy.
	tenancy string
}

// WithLicence adds LicenceUSD to a Linux price, USD per hour, and to the text of its source.
func (s *Shape) WithLicence(usd float64, source string) (float64, string) {
	if s == nil || s.LicenceUSD == 0 || usd <= 0 {
		return usd, source
	}
	// Round the sum, so that decimal prices get no binary rounding errors.
	return math.Round((usd+s.LicenceUSD)*1e6) / 1e6, source + ", with the licence of Windows"
}

// BasisWithLicence adds LicenceUSD to the range of a Linux price.
func (s *Shape) BasisWithLicence(basis *cloudprovider.PriceBasis) *cloudprovider.PriceBasis {
	return basis.Repriced(func(usd float64) float64 {
		usd, _ = s.WithLicence(usd, "")
		return usd
	})
}

// Shapes returns the types that nodes with these settings can have, sorted by name, whether or not they can be bought: the result of
// Resolve without the offerings. Shapes is for providers that get offerings and prices from another source.
func Shapes(c *catalog.Catalog, s Settings) ([]Shape, error) {
	p, err := prepare(c, s)
	if err != nil {
		return nil, err
	}
	return shapesOf(c, p), nil
}

func shapesOf(c *catalog.Catalog, p *plan) []Shape {
	var (
		labels = newLabeller(p, c.Region)
		lists  = newResourceLists(p)
		images = newImages(p.images)
		out    = make([]Shape, 0, len(c.Types))
	)
	var licences map[string]float64
	if p.family.windowsBuild != "" {
		licences = catalog.WindowsLicences()
	}
	unknownBranches := []corev1.ResourceName{ResourcePodENI} // this list is shared, and nobody changes it
	for i := range c.Types {
		t := &c.Types[i]
		if !p.launchable(t) {
			continue
		}
		capacity := p.capacityOf(t)
		it := cloudprovider.InstanceType{
			Name:     t.Name,
			Capacity: lists.capacity(capacity),
			Overhead: cloudprovider.Overhead{
				KubeReserved:      lists.kubeReserved(p.reservationOf(t, capacity)),
				SystemReserved:    lists.systemReserved,
				EvictionThreshold: lists.eviction(p.evictionOf(capacity)),
			},
			VolumeLimits: lists.volumeLimits(p.ebsLimit(t)),
		}
		it.Devices = p.deviceTemplates(t)
		if t.BranchENIs == nil && !p.WithoutPodENI {
			it.NotKnown = unknownBranches
		}
		if !lists.hasRoom(&it) {
			continue
		}
		it.Requirements = labels.requirements(t)
		why := Incompatible(t, p.Settings)
		if why == "" && !images.boot(it.Requirements) {
			why = ReasonNoImage
		}
		shape := Shape{Facts: t, Type: it, Incompatible: why, tenancy: p.Tenancy}
		if licences != nil {
			shape.LicenceUSD = catalog.WindowsLicence(t, licences)
		}
		out = append(out, shape)
	}
	return out
}

// launchable reports whether the type can be a node. It must run HVM images, and its architecture must have node images, which excludes Mac
// types. There must also be images for the operating system: Windows runs only on amd64.
func (p *plan) launchable(t *catalog.Type) bool {
	hvm := len(t.VirtualizationTypes) == 0 || slices.Contains(t.VirtualizationTypes, "hvm")
	arch := architecture(t)
	return hvm && arch != "" && (p.family.windowsBuild == "" || arch == poolv1.ArchitectureAmd64)
}

// hasRoom reports whether some CPU, some memory and at least one pod are left after overhead and huge pages.
func (l *resourceLists) hasRoom(it *cloudprovider.InstanceType) bool {
	for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		left := it.Capacity[name].DeepCopy()
		for _, kept := range [...]corev1.ResourceList{it.Overhead.KubeReserved, it.Overhead.SystemReserved, it.Overhead.EvictionThreshold} {
			if quantity, ok := kept[name]; ok {
				left.Sub(quantity)
			}
		}
		if name == corev1.ResourceMemory {
			for _, pages := range l.plan.hugePages {
				left.Sub(pages)
			}
		}
		if left.Sign() <= 0 {
			return false
		}
	}
	return true
}

// resourceLists creates each distinct list once: all types share a few hundred capacities and a few dozen reservations and volume limits.
type resourceLists struct {
	plan           *plan
	capacities     map[capacity]corev1.ResourceList
	reservations   map[reservation]corev1.ResourceList
	evictions      map[eviction]corev1.ResourceList
	limits         map[int32]map[string]int32
	systemReserved corev1.ResourceList
}

func newResourceLists(p *plan) *resourceLists {
	l := &resourceLists{
		plan:         p,
		capacities:   map[capacity]corev1.ResourceList{},
		reservations: map[reservation]corev1.ResourceList{},
		evictions:    map[eviction]corev1.ResourceList{},
		limits:       map[int32]map[string]int32{},
	}
	if len(p.systemReserved) > 0 {
		l.systemReserved = corev1.ResourceList(p.systemReserved)
	}
	return l
}

func (l *resourceLists) capacity(c capacity) corev1.ResourceList {
	list, ok := l.capacities[c]
	if !ok {
		list = c.list(l.plan.hugePages)
		l.capacities[c] = list
	}
	return list
}

func (l *resourceLists) kubeReserved(r reservation) corev1.ResourceList {
	list, ok := l.reservations[r]
	if !ok {
		list = r.list(l.plan.kubeReserved)
		l.reservations[r] = list
	}
	return list
}

func (l *resourceLists) eviction(e eviction) corev1.ResourceList {
	list, ok := l.evictions[e]
	if !ok {
		list = e.list()
		l.evictions[e] = list
	}
	return list
}

func (l *resourceLists) volumeLimits(ebs int32) map[string]int32 {
	list, ok := l.limits[ebs]
	if !ok {
		list = map[string]int32{EBSDriver: ebs}
		l.limits[ebs] = list
	}
	return list
}
