package overlay

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/cloudprovider"
)

// A price that an overlay states is the user's; one that it adjusts has the range adjusted, too.
func TestBasisOfAnOverlaysPrice(t *testing.T) {
	listed := cloudprovider.PriceBasis{Date: "2025-05-28", Region: "r", Confidence: cloudprovider.PriceDated, Low: 0.6, High: 1}
	for _, c := range []struct {
		name  string
		basis *cloudprovider.PriceBasis
		price option
		want  *cloudprovider.PriceBasis
	}{
		{"stated", &listed, price("3"), &cloudprovider.PriceBasis{Region: "r", Confidence: cloudprovider.PriceGiven}},
		{"adjusted", &listed, adjust("+100%"), &cloudprovider.PriceBasis{Date: "2025-05-28", Region: "r", Confidence: cloudprovider.PriceDated, Low: 1.2, High: 2}},
		{"nothing known", nil, price("3"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := ladder()[2]
			base.Offerings[0].PriceBasis = c.basis
			got := apply(t, []Pool{pool("default", []*cloudprovider.InstanceType{base})}, newOverlay("o", c.price)).Pools[0].Types[0].Offerings[0].PriceBasis
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("basis (-want +got):\n%s", diff)
			}
			if listed.Low != 0.6 {
				t.Errorf("the original was changed: %+v", listed)
			}
		})
	}
}
