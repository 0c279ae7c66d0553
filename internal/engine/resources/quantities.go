package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Up returns q in planner units, rounded up and limited to maxAmount.
func Up(name corev1.ResourceName, q resource.Quantity) int64 {
	amount, _ := unitsUp(name, q, maxAmount)
	return amount
}

// Down returns q in planner units, rounded down and limited to maxAmount.
func Down(name corev1.ResourceName, q resource.Quantity) int64 {
	return UnitsDown(name, q, maxAmount)
}

// unitsUp returns q in planner units, rounded up to an integer. exact is false if q is outside the range from -most to most, or too close
// to 0.
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
	case Absurd(&q): // almost zero
		return max(int64(q.Sign()), 0), false
	case name == corev1.ResourceCPU:
		return q.MilliValue(), true
	}
	return q.Value(), true
}

// UnitsDown returns q in planner units, rounded down and limited to the range from -most to most.
func UnitsDown(name corev1.ResourceName, q resource.Quantity, most int64) int64 {
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

// Quantity converts planner units to a Quantity in the resource's usual format.
func Quantity(name corev1.ResourceName, amount int64) resource.Quantity {
	switch {
	case name == corev1.ResourceCPU:
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage,
		strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix):
		if amount%1024 != 0 {
			return *resource.NewQuantity(amount, resource.DecimalSI) // a BinarySI text would not be parsed to the same value
		}
		return *resource.NewQuantity(amount, resource.BinarySI)
	}
	return *resource.NewQuantity(amount, resource.DecimalSI)
}

// Canonical returns the list with each amount in the usual format of its resource, rounded down to whole units. Parsing the result returns
// the same amounts.
func Canonical(list corev1.ResourceList) corev1.ResourceList {
	out := make(corev1.ResourceList, len(list))
	for name, q := range list {
		out[name] = Quantity(name, Down(name, q))
	}
	return out
}
