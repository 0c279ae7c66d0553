package v1

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// PRV-140.
func TestOverlayValidation(t *testing.T) {
	one := resource.MustParse("1")
	for _, tc := range []struct {
		name       string
		spec       NodeOverlaySpec
		path, text string
	}{
		{"everything, unchanged", NodeOverlaySpec{}, "", ""},
		{"price", NodeOverlaySpec{Price: ptr("1.25")}, "", ""},
		{"price 0", NodeOverlaySpec{Price: ptr("0")}, "", ""},
		{"negative price", NodeOverlaySpec{Price: ptr("-1")}, "spec.price", "non-negative"},
		{"price that is none", NodeOverlaySpec{Price: ptr("1.25 $")}, "spec.price", "write it like 1.25"},
		{"adjustment", NodeOverlaySpec{PriceAdjustment: ptr("+10%")}, "", ""},
		{"the whole price taken away", NodeOverlaySpec{PriceAdjustment: ptr("-100%")}, "", ""},
		{"more than the whole price", NodeOverlaySpec{PriceAdjustment: ptr("-101%")}, "spec.priceAdjustment", "more than the whole price"},
		{"adjustment without sign", NodeOverlaySpec{PriceAdjustment: ptr("10%")}, "spec.priceAdjustment", "signed"},
		{"both", NodeOverlaySpec{Price: ptr("1"), PriceAdjustment: ptr("+1")}, "spec.priceAdjustment", "give one of price and priceAdjustment"},
		{"capacity", NodeOverlaySpec{Capacity: corev1.ResourceList{"example.com/fuse": one}}, "", ""},
		{"cpu", NodeOverlaySpec{Capacity: corev1.ResourceList{"cpu": one}}, "spec.capacity[cpu]", "provider's alone"},
		{"memory", NodeOverlaySpec{Capacity: corev1.ResourceList{"memory": one}}, "spec.capacity[memory]", "provider's alone"},
		{"ephemeral-storage", NodeOverlaySpec{Capacity: corev1.ResourceList{"ephemeral-storage": one}}, "spec.capacity[ephemeral-storage]", "provider's alone"},
		{"pods", NodeOverlaySpec{Capacity: corev1.ResourceList{"pods": one}}, "spec.capacity[pods]", "provider's alone"},
		{"negative capacity", NodeOverlaySpec{Capacity: corev1.ResourceList{"a": resource.MustParse("-1")}}, "spec.capacity[a]", "must not be negative"},
		{"weight 0", NodeOverlaySpec{Weight: new(int32)}, "spec.weight", "between 1 and 10000"},
		{"weight 10000", NodeOverlaySpec{Weight: ptr(int32(10000))}, "", ""},
		{"weight 10001", NodeOverlaySpec{Weight: ptr(int32(10001))}, "spec.weight", "between 1 and 10000"},
		{"101 requirements", NodeOverlaySpec{Requirements: make([]NodeSelectorRequirementWithMinValues, 101)}, "spec.requirements", "remove 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			overlay := &NodeOverlay{Spec: tc.spec}
			overlay.Name = "overlay"
			checkErrors(t, overlay.Validate(), tc.path, tc.text)
		})
	}
}

// PRV-140: ±x or ±p%, never below 0.
func TestPriceAdjustment(t *testing.T) {
	for _, tc := range []struct {
		text        string
		price, want float64
	}{
		{"+0.5", 1, 1.5},
		{"-0.25", 1, 0.75},
		{"-2", 1, 0},
		{"+10%", 2, 2.2},
		{"-25%", 2, 1.5},
		{"-100%", 2, 0},
		{"+.5", 1, 1.5},
		{"+250%", 1, 3.5},
	} {
		a, err := ParsePriceAdjustment(tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := a.Apply(tc.price); got < tc.want-1e-12 || got > tc.want+1e-12 {
			t.Errorf("%s on %v gives %v, want %v", tc.text, tc.price, got, tc.want)
		}
	}
	for _, text := range []string{"", "+", "%", "+%", "1", "+1e3", "+NaN", "+Inf", "+0x10", "-100.5%", "+1%%", "+ 1"} {
		if a, err := ParsePriceAdjustment(text); err == nil {
			t.Errorf("%q was read as %+v", text, a)
		}
	}
}

func FuzzPriceAdjustment(f *testing.F) {
	for _, seed := range []string{"+0.5", "-100%", "+.5", "1", "+1e400", "-0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParsePriceAdjustment(text)
		if err != nil {
			return
		}
		if price := a.Apply(1); !(price >= 0) {
			t.Fatalf("%q makes 1 into %v", text, price)
		}
	})
}
