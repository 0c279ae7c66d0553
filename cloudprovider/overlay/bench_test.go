package overlay

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// 1,354 types of 12 offerings are about what EC2 offers in a region; ten overlays, five of which touch much.
func BenchmarkApply(b *testing.B) {
	types := make([]*cloudprovider.InstanceType, 1354)
	for i := range types {
		var offerings []cloudprovider.Offering
		for zone := range 6 {
			for _, capacityType := range []string{"spot", "on-demand"} {
				offerings = append(offerings, offer(fmt.Sprint("zone-", zone), capacityType, 1))
			}
		}
		types[i] = instance(fmt.Sprint("type-", i), []string{"amd64", "arm64"}[i%2], offerings...)
	}
	overlays := []*v1.NodeOverlay{
		newOverlay("everything", price("1")),
		newOverlay("spot", weight(1), where(v1.CapacityTypeLabelKey, "In", "spot"), adjust("-1%")),
		newOverlay("zone", weight(2), where(corev1.LabelTopologyZone, "In", "zone-3"), adjust("+1%")),
		newOverlay("arm", weight(3), where(corev1.LabelArchStable, "In", "arm64"), adds(fuse, "1")),
		newOverlay("pool", weight(4), where(v1.NodePoolLabelKey, "In", "pool-3"), adds("example.com/tap", "1")),
	}
	for i := range int32(5) {
		overlays = append(overlays, newOverlay(fmt.Sprint("type-", i), weight(10+i), onType(fmt.Sprint("type-", i*7)), price("3")))
	}
	for _, n := range []int{1, 20} {
		var pools []Pool
		for i := range n {
			pools = append(pools, pool(fmt.Sprint("pool-", i), types))
		}
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Apply(Input{Overlays: overlays, Pools: pools, Lookup: core()})
			}
		})
		previous := Apply(Input{Overlays: overlays, Pools: pools, Lookup: core()})
		b.Run(fmt.Sprintf("pools=%d/again", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Apply(Input{Overlays: overlays, Pools: pools, Lookup: core(), Previous: previous})
			}
		})
	}
}
