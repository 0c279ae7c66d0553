package fake_test

import (
	"context"
	"testing"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// 0 is 0: a stock-out that is not remembered shows in no offering, and what was not acknowledged is there again at the next look.
func TestZeroIsZero(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{StockOutMemory: ptr(fake.DefaultStockOutMemory * 0), RedeliverAfter: ptr(fake.DefaultRedeliverAfter * 0)})
	cloud.SetStock(0, func(cloudprovider.OfferingKey) bool { return true })
	if _, err := cloud.Create(context.Background(), claim("a", requirements.In(v1.CapacityTypeLabelKey, "spot"))); !cloudprovider.LaunchAbandoned(err) {
		t.Fatalf("an empty cloud: %v", err)
	}
	if got := unavailable(t, cloud); got != nil {
		t.Errorf("unavailable: %v", got)
	}
	cloud.SetStock(1, func(cloudprovider.OfferingKey) bool { return true })
	id := create(t, cloud, claim("b")).Status.ProviderID
	interrupt(t, cloud, id, cloudprovider.InterruptionRebalance, 0)
	for look := range 2 {
		if got := receive(t, cloud); len(got) != 1 {
			t.Errorf("look %d: %v", look, got)
		}
	}
}
