package fake_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

func benchCloud(b *testing.B, n int) *fake.Cloud {
	b.Helper()
	cloud, err := fake.New(fake.GenericTypes(n), fake.Options{Clock: fake.NewSimClock(start())})
	if err != nil {
		b.Fatal(err)
	}
	return cloud
}

func BenchmarkCreate(b *testing.B) {
	for _, n := range []int{60, 800} {
		b.Run(fmt.Sprintf("%d types", n), func(b *testing.B) {
			cloud := benchCloud(b, n)
			c := claim("a", onDemand())
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c.UID = types.UID(fmt.Sprint(i))
				if _, err := cloud.Create(context.Background(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// CP-CATALOG-12: the same catalogue again costs a slice, however many NodePools ask.
func BenchmarkInstanceTypes(b *testing.B) {
	cloud := benchCloud(b, 800)
	cloud.SetAvailable(false, func(k cloudprovider.OfferingKey) bool { return k.CapacityType == v1.CapacityTypeSpot })
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cloud.InstanceTypes(context.Background(), &v1.NodePool{}); err != nil {
			b.Fatal(err)
		}
	}
}
