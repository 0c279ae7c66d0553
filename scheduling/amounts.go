package scheduling

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Beyond these amounts a request can't be meant: no node comes near. The largest machine of any cloud has 1,920 CPUs, 32
// TiB of memory and 336 TB of local disks.
const (
	impossibleCPU     = 2000
	impossibleMemory  = 100 << 40
	impossibleStorage = 1 << 50
)

// maxAmount bounds a single amount, in planner units, so that sums over thousands of pods and nodes stay inside int64.
const maxAmount = 1 << 50

// ImpossibleRequest reports whether no node of any kind could grant a request for so much of the resource: it is
// negative, 2,000 CPUs or more, more than 100 TiB of memory, or more than 1 PiB of local storage or of anything else, in
// whole units. The usual cause is a unit that was left out or mixed up. A pod that asks for such an amount is not
// planned, but explained. It takes the same short time for any quantity, also for those whose exponents other
// arithmetic on quantities would take minutes for.
func ImpossibleRequest(name corev1.ResourceName, q resource.Quantity) bool {
	if absurd(&q) || q.Sign() < 0 {
		return true
	}
	switch name {
	case corev1.ResourceCPU:
		return q.AsApproximateFloat64() >= impossibleCPU
	case corev1.ResourceMemory:
		return q.CmpInt64(impossibleMemory) > 0
	}
	return q.CmpInt64(impossibleStorage) > 0
}

// absurd reports whether a quantity is too large or too small to reckon with: comparing or adding it would write out all
// digits that its exponent stands for.
func absurd(q *resource.Quantity) bool {
	f := math.Abs(q.AsApproximateFloat64())
	return !(f < 1e24) || (f < 1e-12 && !q.IsZero())
}

// bounded is q, or a quantity that is quickly reckoned with and as impossible if q is absurd.
func bounded(q resource.Quantity) resource.Quantity {
	if !absurd(&q) {
		return q
	}
	sign := int64(q.Sign())
	if math.Abs(q.AsApproximateFloat64()) < 1 {
		return *resource.NewMilliQuantity(sign, resource.DecimalSI)
	}
	return *resource.NewScaledQuantity(sign, 21)
}

// shortQuantity is q for people, cut where it would fill a page.
func shortQuantity(q resource.Quantity) string {
	if absurd(&q) && q.Format == resource.BinarySI {
		return fmt.Sprintf("about %.0e", q.AsApproximateFloat64()) // its text would have all digits
	}
	const most = 40
	text := q.String()
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// checkQuantities refuses amounts of nodes, pools, instance types and overlays that can't be reckoned with. Those of pods
// are judged pod by pod: see checkPod. What the previous model, which may be nil, and compiled catalogs were made of is not
// looked at again.
func checkQuantities(s *Snapshot, previous *Model, o *compileOptions) error {
	var c quantityCheck
	for i := range s.Nodes {
		c.node(&s.Nodes[i])
	}
	for i := range s.NodePools {
		c.list(corev1.ResourceList(s.NodePools[i].Object.Spec.Limits), func() string { return fmt.Sprintf("nodePools[%d].object.spec.limits", i) })
	}
	for i, o := range s.NodeOverlays {
		c.list(o.Spec.Capacity, func() string { return fmt.Sprintf("nodeOverlays[%d].spec.capacity", i) })
	}
	for _, name := range slices.Sorted(maps.Keys(s.Catalogs)) {
		known := previous != nil && sameList(previous.snapshot.Catalogs[name], s.Catalogs[name]) || o.knows(s.Catalogs[name])
		if !known {
			c.types(name, s.Catalogs[name])
		}
	}
	return c.err
}

// quantityCheck keeps the first fault. Paths are spelt out for faults alone.
type quantityCheck struct{ err error }

func (c *quantityCheck) types(name string, list []*cloudprovider.InstanceType) {
	for i, it := range list {
		if it == nil {
			continue // refused where it is compiled
		}
		at := func(field string) string { return fmt.Sprintf("catalogs[%s][%d]%s", name, i, field) }
		c.list(it.Capacity, func() string { return at(".capacity") })
		c.overhead(&it.Overhead, func() string { return at(".overhead") })
		for j := range it.Offerings {
			o := &it.Offerings[j]
			offering := func(field string) string { return fmt.Sprintf("%s[%d]%s", at(".offerings"), j, field) }
			c.list(o.Capacity, func() string { return offering(".capacity") })
			if c.err == nil && o.Price == 0 && o.CapacityType() == v1.CapacityTypeOnDemand {
				c.err = &SnapshotError{Path: offering(".price"), Rule: "is 0, of an on-demand offering", Cure: "give its price; only reserved capacity may be paid for already"}
			}
			if o.Overhead != nil {
				c.overhead(o.Overhead, func() string { return offering(".overhead") })
			}
		}
	}
}

func (c *quantityCheck) overhead(o *cloudprovider.Overhead, path func() string) {
	c.list(o.KubeReserved, func() string { return path() + ".kubeReserved" })
	c.list(o.SystemReserved, func() string { return path() + ".systemReserved" })
	c.list(o.EvictionThreshold, func() string { return path() + ".evictionThreshold" })
}

func (c *quantityCheck) list(list corev1.ResourceList, path func() string) {
	worst, negative := corev1.ResourceName(""), corev1.ResourceName("")
	for name, q := range list {
		if absurd(&q) && (worst == "" || name < worst) {
			worst = name
		}
		if q.Sign() < 0 && (negative == "" || name < negative) {
			negative = name
		}
	}
	if negative != "" && c.err == nil {
		c.err = &SnapshotError{
			Path: fmt.Sprintf("%s[%s]", path(), negative), Rule: "is negative, " + shortQuantity(list[negative]), Cure: "give 0 or more",
		}
	}
	if worst != "" && c.err == nil {
		c.err = &SnapshotError{
			Path: fmt.Sprintf("%s[%s]", path(), worst), Rule: "is " + shortQuantity(list[worst]) + ", too much or too little to reckon with",
			Cure: "give an amount between 1e-12 and 1e24",
		}
	}
}
