package catalog

import (
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
		for name, amount := range list.OnDemand {
			if name == "" || !isPrice(amount) {
				t.Errorf("%q costs %g", name, amount)
			}
		}
	})
}
