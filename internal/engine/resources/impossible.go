package resources

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A request above these amounts (in cores and bytes) must be a mistake, because all nodes are much smaller. The largest node of any cloud
// has 1,920 CPUs, 32 TiB of memory and 336 TB of local disks.
const (
	impossibleCPU     = 2000
	impossibleMemory  = 100 << 40
	impossibleStorage = 1 << 50
)

// maxAmount is the limit of a single amount in planner units. With this limit, sums over thousands of pods and nodes don't overflow int64.
const maxAmount = 1 << 50

// Impossible reports whether no node could ever have this amount of the resource. Impossible amounts are negative amounts, 2,000 CPUs or
// more, more than 100 TiB of memory, and more than 1 PiB (2^50 units) of local storage or of any other resource. Impossible takes a short
// constant time for any quantity, even if the quantity's exponent is so large that ordinary arithmetic would take minutes.
func Impossible(name corev1.ResourceName, q resource.Quantity) bool {
	if Absurd(&q) || q.Sign() < 0 {
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

// Absurd reports whether a quantity is too large or too small to compute with: to compare or add it, Quantity would write out all digits of
// the number.
func Absurd(q *resource.Quantity) bool {
	f := math.Abs(q.AsApproximateFloat64())
	return !(f < 1e24) || (f < 1e-12 && !q.IsZero())
}

// bounded returns q. If q is absurd, it returns another impossible quantity that is quick to compute with.
func bounded(q resource.Quantity) resource.Quantity {
	if !Absurd(&q) {
		return q
	}
	sign := int64(q.Sign())
	if math.Abs(q.AsApproximateFloat64()) < 1 {
		return *resource.NewMilliQuantity(sign, resource.DecimalSI)
	}
	return *resource.NewScaledQuantity(sign, 21)
}

// Short formats q for people and shortens a very long text.
func Short(q resource.Quantity) string {
	if Absurd(&q) && q.Format == resource.BinarySI {
		return fmt.Sprintf("about %.0e", q.AsApproximateFloat64()) // q.String would write all digits of the number
	}
	const most = 40
	text := q.String()
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// CheckPod refuses pods with requests that no node could grant. It checks the requests of each container, the requests of the pod as a
// whole, the overhead, and the sum.
func CheckPod(pod *corev1.Pod) error {
	spec := &pod.Spec
	for _, l := range []struct {
		path string
		list []corev1.Container
	}{{"spec.initContainers", spec.InitContainers}, {"spec.containers", spec.Containers}} {
		for i := range l.list {
			if err := checkRequests(fmt.Sprintf("%s[%d].resources.requests", l.path, i), l.list[i].Resources.Requests); err != nil {
				return err
			}
		}
	}
	if spec.Resources != nil {
		if err := checkRequests("spec.resources.requests", spec.Resources.Requests); err != nil {
			return err
		}
	}
	if err := checkRequests("spec.overhead", spec.Overhead); err != nil {
		return err
	}
	return checkRequests("requests in sum", OfPod(pod))
}

// checkRequests refuses requests that no node could grant. The cause of such requests is nearly always a mistake in the unit.
func checkRequests(path string, list corev1.ResourceList) error {
	for _, name := range Sorted(list) {
		q := list[name]
		switch {
		case !Impossible(name, q):
		case q.Sign() < 0:
			return fmt.Errorf("%s[%s] is negative (%s)", path, name, Short(q))
		case name == corev1.ResourceCPU:
			return fmt.Errorf("%s[%s] is %s cores, more than any node has: check the unit, 1000m is one core", path, name, Short(q))
		default:
			return fmt.Errorf("%s[%s] is %s, more than any node has: check the unit", path, name, Short(q))
		}
	}
	return nil
}

// Sorted returns the names of the resources in the list, in alphabetical order.
func Sorted(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
