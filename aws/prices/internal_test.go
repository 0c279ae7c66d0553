package prices

import (
	"math"
	"testing"
)

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
