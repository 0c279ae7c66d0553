package proof

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// Weak duality: at these prices no offer is worth more than it costs. So no set of nodes that covers a demand costs less than the value of
// the demand.
func TestPricesBoundEveryCover(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		drawn := func(name string) [3]float64 {
			return [3]float64{
				float64(rapid.IntRange(1, 64).Draw(rt, name+" cores")), float64(rapid.IntRange(1, 256).Draw(rt, name+" GiB")) * (1 << 30),
				float64(rapid.IntRange(1, 110).Draw(rt, name+" pods")),
			}
		}
		offers := make([]offered, rapid.IntRange(1, 6).Draw(rt, "offers"))
		for i := range offers {
			offers[i] = offered{drawn("offer"), float64(rapid.IntRange(1, 5000).Draw(rt, "price")) / 1000}
		}
		wanted := drawn("demand")
		demand := corev1.ResourceList{}
		for d, name := range floorResources {
			demand[name] = *resource.NewQuantity(int64(wanted[d]), resource.DecimalSI)
		}
		prices := bestPrices(offers, demand)
		for _, o := range offers {
			worth := 0.0
			for d, name := range floorResources {
				worth += prices[name] * o.amounts[d]
			}
			if worth > o.price {
				rt.Fatalf("an offer of %v for %g is worth %g by %v", o.amounts, o.price, worth, prices)
			}
		}
		cost, left := 0.0, wanted
		for left[0] > 0 || left[1] > 0 || left[2] > 0 {
			o := offers[rapid.IntRange(0, len(offers)-1).Draw(rt, "bought")]
			cost += o.price
			for d := range left {
				left[d] -= o.amounts[d]
			}
		}
		if worth := prices.Worth(demand); worth > cost {
			rt.Fatalf("a cover costs %g, and the demand is worth %g by %v", cost, worth, prices)
		}
	})
}
