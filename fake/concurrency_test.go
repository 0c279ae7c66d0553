package fake_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// CP-CONCURRENCY-01, CP-CONCURRENCY-03, CP-CREATE-02: 1,000 Creates at once, each claim by two callers, among readers,
// levers and hooks. Run it with -race.
func TestThousandParallelCreates(t *testing.T) {
	const claims = 1000
	ctx := context.Background()
	before := runtime.NumGoroutine()
	launched, terminated := map[string]int{}, map[string]int{} // hooks are serial: no lock
	cloud, _ := cloudOf(t, fake.Options{
		OnLaunch:    func(i fake.Instance) { launched[i.ProviderID]++ },
		OnTerminate: func(i fake.Instance) { terminated[i.ProviderID]++ },
	}, fake.GenericTypes(20)...)
	var all sync.WaitGroup
	ids := [2][claims]string{}
	for n := range claims {
		for caller := range ids {
			all.Go(func() {
				got, err := cloud.Create(ctx, claim(fmt.Sprint(n), onDemand()))
				if err != nil {
					t.Error(err)
					return
				}
				ids[caller][n] = got.Status.ProviderID
			})
		}
	}
	for range 20 {
		all.Go(func() {
			if _, err := cloud.List(ctx); err != nil {
				t.Error(err)
			}
			cloud.SetAvailable(false, func(k cloudprovider.OfferingKey) bool { return k.CapacityType == "spot" })
			if _, err := cloud.InstanceTypes(ctx, &v1.NodePool{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	distinct := map[string]struct{}{}
	for n := range claims {
		if ids[0][n] != ids[1][n] {
			t.Errorf("claim %d got %s and %s", n, ids[0][n], ids[1][n])
		}
		distinct[ids[0][n]] = struct{}{}
	}
	if len(distinct) != claims || len(list(t, cloud)) != claims {
		t.Errorf("%d instances for %d claims, %d listed", len(distinct), claims, len(list(t, cloud)))
	}
	for id := range distinct {
		all.Go(func() {
			c := &v1.NodeClaim{}
			c.Status.ProviderID = id
			if err := cloud.Delete(ctx, c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	cloud.Settle()
	if len(list(t, cloud)) != 0 || len(launched) != claims || len(terminated) != claims {
		t.Errorf("%d are left, %d were told as launched, %d as terminated", len(list(t, cloud)), len(launched), len(terminated))
	}
	for id := range distinct {
		if launched[id] != 1 || terminated[id] != 1 {
			t.Errorf("%s: told %d times as launched, %d as terminated", id, launched[id], terminated[id])
		}
	}
	// One whose work is done takes a moment to end.
	for tries := 0; runtime.NumGoroutine() > before && tries < 5000; tries++ {
		time.Sleep(time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines were left behind", after-before)
	}
}

// CP-CONCURRENCY-01: a stock of 100 sells 100 instances, however many ask at once.
func TestParallelCreatesDoNotOversell(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	cloud.SetStock(0, everyOffering)
	cloud.SetStock(100, func(k cloudprovider.OfferingKey) bool {
		return k == cloudprovider.OfferingKey{InstanceType: "m1.large", Zone: "test-region-1b", CapacityType: "on-demand"}
	})
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			_, err := cloud.Create(context.Background(), claim(fmt.Sprint(n), requirements.Exists("team")))
			if err != nil && !cloudprovider.IsInsufficientCapacity(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := len(list(t, cloud)); got != 100 {
		t.Errorf("%d instances were sold", got)
	}
}
