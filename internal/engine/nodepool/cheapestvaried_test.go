package nodepool_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
)

// A pool that asks for two sizes plans a small node for one CPU without limits. Under limits the claim names no type that takes
// more of them than the planned one, so that the large one it is, where they leave so much.
func TestCheapestVaried(t *testing.T) {
	p := pool(nil, requirements.Exists("size").WithMinValues(2))
	check := func(what string, need int64, most []int64, want string) {
		t.Helper()
		row, slot, price := p.CheapestVaried(cpu(need), p.Rows, p.Slots, most)
		got := "none"
		if row >= 0 {
			got = names(p, only(row))[0]
			if at := p.Table.Catalog.Price(p.Table.Rows[row].Variant, int(slot)); at != price {
				t.Errorf("%s: the price is %d, want %d", what, price, at)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	check("without limits", 1, nil, "small")
	check("3 CPU, which only the large one holds", 3, nil, "none")
	var err error
	if p.Limits, err = nodepool.NewLimits(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100")}); err != nil {
		t.Fatal(err)
	}
	if row, _, _ := p.CheapestWithin(cpu(1), p.Rows, p.Slots, []int64{4000}); names(p, only(row))[0] != "small" {
		t.Error("small is not the cheapest")
	}
	check("4 CPU left of the limits", 1, []int64{4000}, "large")
	check("3 CPU left of the limits", 1, []int64{3000}, "none")
}
