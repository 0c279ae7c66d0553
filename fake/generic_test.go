package fake_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// CP-CATALOG-02 to CP-CATALOG-08: the synthetic catalogue keeps the contract at any size.
func TestGenericTypesKeepTheContract(t *testing.T) {
	for _, n := range []int{-1, 0, 1, 7, 60, 61, 2500} {
		types := fake.GenericTypes(n)
		if len(types) != max(n, 0) {
			t.Errorf("GenericTypes(%d) has %d types", n, len(types))
		}
		if err := cloudprovider.ValidateCatalog(types, fake.GenericCapabilities()); err != nil {
			t.Errorf("GenericTypes(%d): %v", n, err)
		}
	}
}

// CP-CATALOG-11: the same facts give the same list.
func TestGenericTypesAreReproducible(t *testing.T) {
	small, large := fake.GenericTypes(130), fake.GenericTypes(200)
	if diff := cmp.Diff(small, large[:130]); diff != "" {
		t.Errorf("the smaller catalogue is not the beginning of the larger (-want +got):\n%s", diff)
	}
	// Benchmarks and saved snapshots rely on these very numbers.
	it := small[1]
	if it.Name != "m1.large" || it.Offerings[1].Price != 0.095164 {
		t.Errorf("the second type is %s at %v", it.Name, it.Offerings[1].Price)
	}
}

func TestGenericTypesAreVaried(t *testing.T) {
	families, archs, prices := map[string]bool{}, map[string]bool{}, map[float64]int{}
	for _, it := range fake.GenericTypes(600) {
		family, _, _ := strings.Cut(it.Name, ".")
		families[family] = true
		archs[it.Requirements.Get(corev1.LabelArchStable).Values()[0]] = true
		var spot, onDemand []float64
		for i := range it.Offerings {
			o := &it.Offerings[i]
			if o.CapacityType() == v1.CapacityTypeSpot {
				spot = append(spot, o.Price)
			} else {
				onDemand = append(onDemand, o.Price)
			}
		}
		if len(spot) != 3 || len(onDemand) != 3 {
			t.Fatalf("%s has %d spot and %d on-demand offerings", it.Name, len(spot), len(onDemand))
		}
		prices[onDemand[0]]++
		for i := range spot {
			if share := spot[i] / onDemand[i]; share < 0.25-1e-3 || share > 0.45+1e-3 {
				t.Errorf("%s: spot costs %.3f of on-demand", it.Name, share)
			}
		}
		linear := perCore(it) / 0.0315
		if linear < 0.9 || linear > 2.3 {
			t.Errorf("%s: a core costs %.2f times the base", it.Name, linear)
		}
	}
	if len(families) != 60 || len(archs) != 2 {
		t.Errorf("%d families, %d architectures", len(families), len(archs))
	}
	if len(prices) < 580 {
		t.Errorf("only %d different on-demand prices among 600 types", len(prices))
	}
}

// perCore undoes the discount for arm64, so that all types can be compared.
func perCore(it *cloudprovider.InstanceType) float64 {
	price := it.Offerings[1].Price
	if it.Requirements.Get(corev1.LabelArchStable).Has(v1.ArchitectureArm64) {
		price /= 0.8
	}
	return price / math.Max(1, it.Capacity.Cpu().AsApproximateFloat64())
}
