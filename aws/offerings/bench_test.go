package offerings_test

import (
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/offerings"
	"github.com/drawknife/drawknife/aws/unavailable"
)

// everywhere is the embedded catalogue with every type offered in every zone, and sold either way: 1,354 types x 6 zones
// x 2 capacity types.
func everywhere(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	from := embedded(tb)
	c := *from
	c.Types = append([]catalog.Type(nil), from.Types...)
	for i := range c.Types {
		t := &c.Types[i]
		t.Zones = nil
		for z := range c.Zones {
			t.Zones = append(t.Zones, z)
		}
		t.UsageClasses = []string{"on-demand", "spot"}
		t.SpotUSD, t.OnDemandFrom, t.SpotFrom = nil, "", ""
	}
	out, err := catalog.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// BenchmarkResolve is a first answer: at most 20 ms and 10 MB.
func BenchmarkResolve(b *testing.B) {
	m := market(b, everywhere(b))
	v := view(b, m.Catalog, class("default"))
	b.ReportAllocs()
	for b.Loop() {
		types, err := offerings.Resolve(m, v)
		if err != nil || len(types) < 1345 {
			b.Fatal(len(types), err)
		}
	}
}

// BenchmarkStore is the next answers: nothing changed; another mark each time.
func BenchmarkStore(b *testing.B) {
	m := market(b, everywhere(b))
	v := view(b, m.Catalog, class("default"))
	b.Run("unchanged", func(b *testing.B) {
		var store offerings.Store
		b.ReportAllocs()
		for b.Loop() {
			if _, err := store.Types(m, v); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("marked", func(b *testing.B) {
		var store offerings.Store
		memory := unavailable.New(unavailable.Options{})
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			memory.Mark(unavailable.Key{CapacityType: "spot", InstanceType: m.Catalog.Types[i%1000].Name, Zone: "us-east-1a"})
			m.Unavailable = memory.Snapshot()
			if _, err := store.Types(m, v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
