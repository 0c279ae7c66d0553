package devices

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// most is the largest amount that this package uses, in thousandths. With this limit, sums of a few hundred amounts fit into int64. The
// limit corresponds to more than 4,000 TiB.
const most = 1 << 52

// down converts a quantity to thousandths, rounded down. Amounts above the constant most become this constant.
func down(q resource.Quantity) int64 {
	n := up(q)
	if n > -most && n < most && resource.NewMilliQuantity(n, q.Format).Cmp(q) > 0 {
		return n - 1
	}
	return n
}

// up converts a quantity to thousandths, rounded up. Amounts above the constant most become this constant.
func up(q resource.Quantity) int64 {
	switch f := q.AsApproximateFloat64() * 1000; {
	case f >= most:
		return most
	case f <= -most:
		return -most
	case resources.Absurd(&q): // large amounts are handled above, so this absurd amount is near zero
		return max(int64(q.Sign()), 0)
	}
	return q.MilliValue()
}

// quantity converts an amount in thousandths to a quantity with the format of the quantity like.
func quantity(n int64, like resource.Quantity) resource.Quantity {
	if n%1000 == 0 {
		return *resource.NewQuantity(n/1000, like.Format)
	}
	return *resource.NewMilliQuantity(n, resource.DecimalSI)
}
