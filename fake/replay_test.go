package fake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

// foul is a fault model with everything in it.
func foul(seed uint64) fake.FaultModel {
	return fake.FaultModel{
		Seed: seed, Throttled: 0.05, Failed: 0.05, Lost: 0.05, OutOfStock: 0.1, Stillborn: 0.1, MeanLife: 6 * time.Hour,
		MeanSpotLife: 2 * time.Hour, Duplicated: 0.3, PriceEvery: 20 * time.Minute, PriceMove: 0.1,
	}
}

// busy uses a cloud in all ways, for some hours of its time.
func busy(cloud *fake.Cloud, clock *fake.SimClock, seed uint64, steps int) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(seed, 1))
	other := cloud.ForCluster("another")
	var ids []string
	for i := range steps {
		id := ""
		if len(ids) > 0 {
			id = ids[r.IntN(len(ids))]
		}
		known := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "known"}, Status: v1.NodeClaimStatus{ProviderID: id}}
		switch r.IntN(24) {
		case 0, 1, 2, 3, 4, 5:
			created, err := cloud.Create(ctx, claim(fmt.Sprint("c", r.IntN(steps))))
			if err == nil {
				ids = append(ids, created.Status.ProviderID)
			}
		case 6:
			_ = cloud.Delete(ctx, known)
		case 7:
			_, _ = cloud.Get(ctx, id)
			_, _ = cloud.IsDrifted(ctx, known)
		case 8:
			_, _ = cloud.List(ctx)
		case 9:
			_, _ = cloud.InstanceTypes(ctx, &v1.NodePool{})
		case 10:
			_, _ = other.Create(ctx, claim(fmt.Sprint("other", i)))
		case 11:
			cloud.SetStock(r.IntN(3), func(k cloudprovider.OfferingKey) bool { return strings.HasSuffix(k.Zone, "a") })
		case 12:
			_ = cloud.Inject(fake.Fault{Method: fake.MethodList, Err: cloudprovider.NewThrottledError("fake:List", time.Minute, errors.New("busy"))})
		case 13:
			cloud.SetQuota("machines", r.IntN(20), func(cloudprovider.OfferingKey) bool { return true })
		case 14:
			_ = cloud.Interrupt(id, cloudprovider.InterruptionMaintenance, time.Hour)
		case 15:
			cloud.BrownOut(time.Duration(r.IntN(60)) * time.Second)
		case 16:
			cloud.SetImageID(fmt.Sprint("image-", i))
		case 17:
			_ = cloud.SetPrices(func(_ cloudprovider.OfferingKey, now float64) float64 { return now * 1.01 })
		case 18:
			if cloud.Interrupt(id, cloudprovider.InterruptionRebalance, 0) != nil {
				continue // without a message a reader waits
			}
			if got, err := cloud.ReceiveInterruptions(ctx); err == nil {
				_ = cloud.AckInterruptions(ctx, got[0].ID)
			}
		case 19:
			_ = cloud.FailInstance(id)
		case 20:
			cloud.ExpireCredentials()
			_, _ = cloud.List(ctx)
			cloud.RenewCredentials()
		default:
			clock.Advance(time.Duration(r.IntN(600)) * time.Second)
			cloud.Settle()
		}
	}
}

// The same seed gives the same events; a log that was written, read and replayed gives itself; another seed gives others.
func TestReplay(t *testing.T) {
	run := func(seed uint64) []fake.Event {
		var log []fake.Event
		cloud, clock := cloudOf(t, fake.Options{
			LaunchLatency: 40 * time.Second, ShutdownLatency: 30 * time.Second, ListLag: 10 * time.Second, FaultModel: foul(seed),
			OnEvent: func(e fake.Event) { log = append(log, e) },
		}, fake.GenericTypes(8)...)
		busy(cloud, clock, 7, 600)
		return log
	}
	for seed := range uint64(3) {
		log := run(seed)
		if diff := cmp.Diff(log, run(seed)); diff != "" {
			t.Fatalf("seed %d: another run gives other events (-first +second):\n%s", seed, diff)
		}
		var written bytes.Buffer
		if err := fake.WriteLog(&written, log); err != nil {
			t.Fatal(err)
		}
		text := written.String()
		read, err := fake.ReadLog(&written)
		if err != nil {
			t.Fatal(err)
		}
		_, again, err := fake.Replay(fake.GenericTypes(8), fake.Options{
			LaunchLatency: 40 * time.Second, ShutdownLatency: 30 * time.Second, ListLag: 10 * time.Second, FaultModel: foul(seed),
		}, read)
		if err != nil {
			t.Fatal(err)
		}
		if err := fake.WriteLog(&written, again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(written.String(), "\n")); diff != "" {
			t.Fatalf("seed %d: the replay differs (-log +replay):\n%s", seed, diff)
		}
		names := map[string]bool{}
		for _, e := range log {
			names[e.Name] = true
		}
		for _, name := range []string{"Open", "Running", "ShuttingDown", "Gone", "Stillborn", "Failed", "Announced", "PricesMoved", "Create", "SetQuota", "Inject"} {
			if !names[name] {
				t.Errorf("seed %d: nothing of the name %s happened", seed, name)
			}
		}
	}
	if cmp.Equal(run(1), run(2)) {
		t.Error("two seeds give the same events")
	}
}

// What goroutines did side by side is replayed one after the other, in the order in which the cloud met it.
func TestReplayOfManyCallers(t *testing.T) {
	var log []fake.Event
	options := fake.Options{LaunchLatency: time.Minute, FaultModel: foul(3)}
	recording := options
	recording.OnEvent = func(e fake.Event) { log = append(log, e) } // hooks are serial: no lock
	cloud, clock := cloudOf(t, recording, fake.GenericTypes(8)...)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 40 {
				created, err := cloud.Create(context.Background(), claim(fmt.Sprint(n%4, "-", i)))
				clock.Advance(time.Second)
				if err == nil && i%3 == 0 {
					_ = cloud.Delete(context.Background(), created)
				}
				_, _ = cloud.List(context.Background())
			}
		})
	}
	all.Wait()
	cloud.Settle()
	_, again, err := fake.Replay(fake.GenericTypes(8), options, log)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(log, again, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-log +replay):\n%s", diff)
	}
}

func TestReplayRefuses(t *testing.T) {
	open := fake.Event{Seq: 1, Kind: fake.EventLever, Name: "Open"}
	for name, log := range map[string][]fake.Event{
		"nothing":        nil,
		"no beginning":   {{Seq: 2, Kind: fake.EventCall, Name: "List"}},
		"a gap":          {open, {Seq: 3, Kind: fake.EventCall, Name: "List"}},
		"unknown kind":   {open, {Seq: 2, Kind: "Guess", Name: "List"}},
		"unknown method": {open, {Seq: 2, Kind: fake.EventCall, Name: "Guess"}},
		"unknown lever":  {open, {Seq: 2, Kind: fake.EventLever, Name: "Guess"}},
		"no fault":       {open, {Seq: 2, Kind: fake.EventLever, Name: "Inject"}},
		"no node class":  {open, {Seq: 2, Kind: fake.EventLever, Name: "SetNodeClassStatus"}},
	} {
		if _, _, err := fake.Replay(fake.GenericTypes(1), fake.Options{}, log); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := fake.ReadLog(strings.NewReader("{}\n\n{\"seq\": \"x\"}")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("got %v", err)
	}
	if _, err := fake.ReadLog(strings.NewReader(strings.Repeat(" ", 2<<20))); err == nil {
		t.Error("a line without end is accepted")
	}
}

// FuzzReplay: no log brings a cloud down.
func FuzzReplay(f *testing.F) {
	f.Add(`{"seq":1,"kind":"Lever","name":"Open"}` + "\n" + `{"seq":2,"kind":"Call","name":"Create","claims":[null]}`)
	f.Add(`{"seq":1,"kind":"Lever","name":"Open"}` + "\n" + `{"seq":2,"kind":"Lever","name":"Restore","claims":[{}, null]}`)
	f.Add(`{"seq":1,"kind":"Lever","name":"Open"}` + "\n" + `{"seq":2,"kind":"Lever","name":"Inject","fault":{"method":"List","kind":"Throttled"}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		log, err := fake.ReadLog(strings.NewReader(text))
		if err != nil {
			return
		}
		_, _, _ = fake.Replay(fake.GenericTypes(1), fake.Options{}, log)
	})
}

// CP-LIST-02: what happens is listed once the lag has passed, and not before.
func TestListLag(t *testing.T) {
	cloud, clock := testCloud(t, fake.Options{ListLag: 10 * time.Second, ShutdownLatency: 5 * time.Second})
	if got := cloud.Describe().ConsistencyWindow.Duration; got != 10*time.Second {
		t.Errorf("declared is %s", got)
	}
	c := create(t, cloud, claim("a"))
	show := func() string {
		all := list(t, cloud)
		if len(all) == 0 {
			return "nothing"
		}
		if all[0].DeletionTimestamp != nil {
			return "ending"
		}
		return "running"
	}
	var got []string
	for second := range 30 {
		if second == 12 {
			if err := cloud.Delete(context.Background(), c); err != nil {
				t.Fatal(err)
			}
		}
		if s := show(); len(got) == 0 || !strings.HasPrefix(got[len(got)-1], s) {
			got = append(got, fmt.Sprintf("%s from %d s", s, second))
		}
		clock.Advance(time.Second)
	}
	want := []string{"nothing from 0 s", "running from 10 s", "ending from 22 s", "nothing from 27 s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CP-CREATE-07: a quota closes what it is about, names itself, and opens when instances go.
func TestQuota(t *testing.T) {
	cloud, clock := testCloud(t, fake.Options{StockOutMemory: ptr(time.Minute)})
	cloud.SetQuota("spot instances", 1, func(k cloudprovider.OfferingKey) bool { return k.CapacityType == v1.CapacityTypeSpot })
	first := create(t, cloud, claim("a"))
	if second := create(t, cloud, claim("b")); second.Labels[v1.CapacityTypeLabelKey] != v1.CapacityTypeOnDemand {
		t.Errorf("the second is %q", second.Labels[v1.CapacityTypeLabelKey])
	}
	clock.Advance(time.Minute)
	spot := claim("c")
	spot.Spec.Requirements = append(spot.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: v1.CapacityTypeLabelKey, Operator: "In", Values: []string{"spot"}})
	_, err := cloud.Create(context.Background(), spot)
	var quota *cloudprovider.QuotaExceededError
	if !errors.As(err, &quota) || quota.Quota != "spot instances" || len(quota.Offerings) == 0 {
		t.Fatalf("got %v", err)
	}
	if closed := unavailable(t, cloud); len(closed) != len(quota.Offerings) {
		t.Errorf("%d offerings are closed, named are %d", len(closed), len(quota.Offerings))
	}
	if err := cloud.Delete(context.Background(), first); err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Minute)
	create(t, cloud, spot)
	cloud.SetQuota("spot instances", -1, func(cloudprovider.OfferingKey) bool { return false })
	create(t, cloud, claim("d"))
}

// Prices move: InstanceTypes shows it, launches follow, instances keep the price they were bought at; what is no price is
// refused.
func TestSetPrices(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	first := create(t, cloud, claim("a"))
	was := cloud.Instances()[0]
	if err := cloud.SetPrices(func(k cloudprovider.OfferingKey, now float64) float64 {
		if k == was.Offering {
			return 1000
		}
		return now
	}); err != nil {
		t.Fatal(err)
	}
	types, err := cloud.InstanceTypes(context.Background(), &v1.NodePool{})
	if err != nil {
		t.Fatal(err)
	}
	shown := 0.0
	for _, it := range types {
		for i := range it.Offerings {
			if cloudprovider.KeyOf(it, &it.Offerings[i]) == was.Offering {
				shown = it.Offerings[i].Price
			}
		}
	}
	if shown != 1000 {
		t.Errorf("shown is %v", shown)
	}
	create(t, cloud, claim("b"))
	for _, i := range cloud.Instances() {
		if (i.ProviderID == first.Status.ProviderID) != (i.Offering == was.Offering) || i.Price > 999 {
			t.Errorf("%s was bought as %s for %v", i.ProviderID, i.Offering, i.Price)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1, 0} {
		err := cloud.SetPrices(func(cloudprovider.OfferingKey, float64) float64 { return bad })
		var fault *cloudprovider.CatalogError
		if !errors.As(err, &fault) {
			t.Errorf("%v: got %v", bad, err)
		}
	}
}

// CP-ERROR-05: a cloud that is out of reach, by credentials or as a whole, and comes back.
func TestDown(t *testing.T) {
	ctx := context.Background()
	cloud, clock := testCloud(t, fake.Options{})
	cloud.ExpireCredentials()
	var refused *cloudprovider.UnauthorizedError
	if _, err := cloud.List(ctx); !errors.As(err, &refused) || refused.Action != "fake:List" {
		t.Errorf("got %v", err)
	}
	cloud.RenewCredentials()
	list(t, cloud)
	cloud.BrownOut(time.Minute)
	if _, err := cloud.Create(ctx, claim("a")); !cloudprovider.IsTransient(err) {
		t.Errorf("got %v", err)
	}
	clock.Advance(time.Minute)
	c := create(t, cloud, claim("a"))
	if err := cloud.FailInstance(c.Status.ProviderID); err != nil {
		t.Fatal(err)
	}
	if _, err := cloud.Get(ctx, c.Status.ProviderID); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("an instance that has failed: %v", err)
	}
	if err := cloud.FailInstance(c.Status.ProviderID); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestStall(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	release := cloud.Stall(fake.MethodList)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { _, err := cloud.List(ctx); done <- err }()
	create(t, cloud, claim("a")) // others go on
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	go func() { _, err := cloud.List(context.Background()); done <- err }()
	release()
	release()
	if err := <-done; err != nil {
		t.Errorf("got %v", err)
	}
}

func TestFaultModelIsChecked(t *testing.T) {
	for field, w := range map[string]fake.FaultModel{
		"Lost": {Lost: 1.5}, "Throttled + Failed + Lost": {Lost: 0.6, Failed: 0.6}, "Stillborn": {Stillborn: math.NaN()},
		"MeanLife": {MeanLife: -1},
	} {
		var wrong *option.Error
		if _, err := fake.New(fake.GenericTypes(1), fake.Options{FaultModel: w}); !errors.As(err, &wrong) || !strings.HasSuffix(wrong.Option, "."+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
