package devices_test

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/internal/engine/devices"
)

// BenchmarkAllocate allocates and releases one, and all eight, of eight devices that differ in their addresses alone, under a constraint.
func BenchmarkAllocate(b *testing.B) {
	s := slice("node")
	for i := range 8 {
		s.Spec.Devices = append(s.Spec.Devices, device(fmt.Sprintf("g%d", i), attribute("model", "x"), attribute("domain", "1"), attribute("address", fmt.Sprint(i))))
	}
	u := devices.NewUsage(devices.NewInventory([]*resourcev1.ResourceSlice{s}))
	m := devices.NewMatches(&words{})
	for _, n := range []int64{1, 8} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			claim := newClaim(b, constrained(claimOf(exactly("r", n, where("model=x"))), match(driver+"/domain")), classes())
			b.ReportAllocs()
			for b.Loop() {
				a, miss := devices.Allocate([]devices.Source{{Usage: u}}, []*devices.Claim{claim}, m)
				if a == nil {
					b.Fatal(miss)
				}
				a.Release()
			}
		})
	}
}
