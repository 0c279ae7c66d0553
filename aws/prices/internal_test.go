package prices

import (
	"math"
	"strings"
	"testing"
)

// FuzzTable: any table is read whole, with usable prices, or refused.
func FuzzTable(f *testing.F) {
	f.Add("2025-05-28\ta\tb\nm5.large\t0.1\t\n")
	f.Add("2025-05-28\ta\nm5.large\t-1\n")
	f.Add("today\ta\n")
	f.Add("2025-05-28\ta\nm5.large\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseTable(strings.NewReader(text), "a")
		if err != nil || list == nil {
			return
		}
		for name, p := range list.OnDemand {
			if name == "" || !usable(p.PerHour) {
				t.Errorf("%q costs %g", name, p.PerHour)
			}
		}
	})
}

// FuzzProduct: whatever the price list says, it is a usable price or none.
func FuzzProduct(f *testing.F) {
	f.Add(`{"product": {"attributes": {"instanceType": "m5.large"}}, "terms": {"OnDemand": {"a": {"priceDimensions": {"b": {"pricePerUnit": {"USD": "0.096"}}}}}}}`)
	f.Add(`{"terms": {"OnDemand": {"a": {"priceDimensions": {"b": {"pricePerUnit": {"USD": "NaN"}}}}}}}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		name, amount, ok := parseProduct([]byte(text), "USD")
		if ok && (name == "" || amount <= 0 || math.IsInf(amount, 0) || math.IsNaN(amount)) {
			t.Errorf("%q costs %g", name, amount)
		}
	})
}
