package scheduling

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Resource amounts are int64 inside the planner: cpu in millicores, everything else in whole units (bytes, devices,
// pods). Requests are rounded up and capacities down, so that rounding never promises what isn't there.

// resourceTable gives each resource name that the model reckons with a small number: its place in every vector.
// Only resources that some pod asks for matter; what nobody wants can't run out.
type resourceTable struct {
	names []corev1.ResourceName
	index map[corev1.ResourceName]int
}

// Places of the resources that every model has.
const (
	dimCPU = iota
	dimMemory
	dimPods
	baseDims
)

func newResourceTable() *resourceTable {
	t := &resourceTable{index: make(map[corev1.ResourceName]int, 8)}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods} {
		t.intern(name)
	}
	return t
}

func (t *resourceTable) intern(name corev1.ResourceName) int {
	if i, ok := t.index[name]; ok {
		return i
	}
	i := len(t.names)
	t.names = append(t.names, name)
	t.index[name] = i
	return i
}

// len is the length of every vector.
func (t *resourceTable) len() int { return len(t.names) }

// internAll numbers names in alphabetical order, so that numbering does not depend on map order.
func (t *resourceTable) internAll(names map[corev1.ResourceName]struct{}) {
	sorted := make([]corev1.ResourceName, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		t.intern(name)
	}
}

// amountUp is q in planner units, rounded up; what is beyond maxAmount is maxAmount.
func amountUp(name corev1.ResourceName, q resource.Quantity) int64 {
	amount, _ := unitsUp(name, q, maxAmount)
	return amount
}

// amountDown is q in planner units, rounded down; what is beyond maxAmount is maxAmount.
func amountDown(name corev1.ResourceName, q resource.Quantity) int64 {
	return unitsDown(name, q, maxAmount)
}

// unitsUp is q in planner units, rounded up, and whether it is no more and no less than that can tell.
func unitsUp(name corev1.ResourceName, q resource.Quantity, most int64) (units int64, exact bool) {
	f := q.AsApproximateFloat64()
	if name == corev1.ResourceCPU {
		f *= 1000
	}
	switch {
	case f < -float64(most):
		return -most, false
	case !(f <= float64(most)):
		return most, false
	case absurd(&q): // next to nothing
		return max(int64(q.Sign()), 0), false
	case name == corev1.ResourceCPU:
		return q.MilliValue(), true
	}
	return q.Value(), true
}

// unitsDown is q in planner units, rounded down, at most most.
func unitsDown(name corev1.ResourceName, q resource.Quantity, most int64) int64 {
	up, exact := unitsUp(name, q, most)
	if !exact {
		if up == 1 {
			return 0
		}
		return up
	}
	scale := resource.Scale(0)
	if name == corev1.ResourceCPU {
		scale = resource.Milli
	}
	if whole := resource.NewScaledQuantity(up, scale); whole.Cmp(q) > 0 {
		return up - 1
	}
	return up
}

// quantity turns planner units back into a Quantity of the resource's usual format.
func quantity(name corev1.ResourceName, amount int64) resource.Quantity {
	switch {
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		if amount%1024 != 0 {
			return *resource.NewQuantity(amount, resource.DecimalSI) // BinarySI would not be read back as it is written
		}
		return *resource.NewQuantity(amount, resource.BinarySI)
	}
	return *resource.NewQuantity(amount, resource.DecimalSI)
}

// capacityVector reads a machine's amounts; a resource the list lacks is zero.
func (t *resourceTable) capacityVector(list corev1.ResourceList, into []int64) {
	for i, name := range t.names {
		into[i] = 0
		if q, ok := list[name]; ok {
			into[i] = amountDown(name, q)
		}
	}
}

// requestVector reads a pod's effective requests; resources outside the table are left out.
func (t *resourceTable) requestVector(list corev1.ResourceList, into []int64) {
	for i, name := range t.names {
		into[i] = 0
		if q, ok := list[name]; ok {
			into[i] = amountUp(name, q)
		}
	}
}

// addTo adds the list's amounts that have a place in the table.
func (t *resourceTable) addTo(sum []int64, list corev1.ResourceList) {
	left := len(list)
	for at, name := range t.names {
		if left == 0 {
			return
		}
		if q, ok := list[name]; ok {
			sum[at] += amountUp(name, q)
			left--
		}
	}
}

// canonical writes a list's amounts in the usual format of each resource, rounded down to whole units, so that they are
// read back as they are written.
func canonical(list corev1.ResourceList) corev1.ResourceList {
	out := make(corev1.ResourceList, len(list))
	for name, q := range list {
		out[name] = quantity(name, amountDown(name, q))
	}
	return out
}

// list turns a vector back into a ResourceList, leaving zeros out.
func (t *resourceTable) list(v []int64) corev1.ResourceList {
	out := make(corev1.ResourceList, len(v))
	for i, amount := range v {
		if amount != 0 && !strings.HasPrefix(string(t.names[i]), attachPrefix) {
			out[t.names[i]] = quantity(t.names[i], amount)
		}
	}
	return out
}

// fits reports whether need is at most have in every resource.
func fits(need, have []int64) bool {
	for i, n := range need {
		if n > have[i] {
			return false
		}
	}
	return true
}

// howMany is how many pods with requests need fit in have: at least 0, at most limit.
func howMany(need, have []int64, limit int) int {
	n := int64(limit)
	for i, v := range need {
		if v <= 0 {
			continue
		}
		if k := have[i] / v; k < n {
			n = k
		}
	}
	return int(max(n, 0))
}

func addScaled(into, v []int64, k int64) {
	for i, x := range v {
		into[i] += k * x
	}
}

// checkPod refuses pods whose requests no node could grant: of any container, and in sum.
func checkPod(pod *corev1.Pod) error {
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
	return checkRequests("requests in sum", PodRequests(pod))
}

// checkRequests refuses requests no node could grant: nearly always a unit typo.
func checkRequests(path string, list corev1.ResourceList) error {
	for _, name := range sortedNames(list) {
		q := list[name]
		switch {
		case !ImpossibleRequest(name, q):
		case q.Sign() < 0:
			return fmt.Errorf("%s[%s] is negative (%s)", path, name, shortQuantity(q))
		case name == corev1.ResourceCPU:
			return fmt.Errorf("%s[%s] is %s cores, more than any node has: check the unit, 1000m is one core", path, name, shortQuantity(q))
		default:
			return fmt.Errorf("%s[%s] is %s, more than any node has: check the unit", path, name, shortQuantity(q))
		}
	}
	return nil
}

func sortedNames(list corev1.ResourceList) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
