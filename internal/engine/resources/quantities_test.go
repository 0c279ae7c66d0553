package resources

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Requests are rounded up and capacities down, and what no arithmetic should touch is bounded.
func TestQuantitiesAreRounded(t *testing.T) {
	for _, c := range []struct {
		name     corev1.ResourceName
		amount   string
		up, down int64
	}{
		{corev1.ResourceCPU, "1", 1000, 1000},
		{corev1.ResourceCPU, "1500u", 2, 1},
		{corev1.ResourceMemory, "1Ki", 1024, 1024},
		{corev1.ResourceMemory, "1500m", 2, 1},
		{corev1.ResourceMemory, "1e9999999", maxAmount, maxAmount},
		{corev1.ResourceMemory, "1e-999999", 1, 0},
		{"example.com/gpu", "-1", -1, -1},
	} {
		q := resource.MustParse(c.amount)
		if up, down := Up(c.name, q), Down(c.name, q); up != c.up || down != c.down {
			t.Errorf("%s of %s: %d up and %d down, want %d and %d", c.amount, c.name, up, down, c.up, c.down)
		}
	}
}

// What is written is read back as it is.
func TestQuantityIsReadBack(t *testing.T) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, "example.com/gpu"} {
		for _, amount := range []int64{0, 1, 999, 1000, 1024, 1025, 1 << 40} {
			written := Quantity(name, amount)
			read := resource.MustParse(written.String())
			if got := Up(name, read); got != amount {
				t.Errorf("%d of %s is written %s and read as %d", amount, name, written.String(), got)
			}
		}
	}
}
