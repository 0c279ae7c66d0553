package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/cloudprovider/conformance/engine"
	"github.com/drawknife/drawknife/fake"
)

func onFake(t testing.TB) conformance.Subject {
	clock := fake.NewSimClock(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
	cloud, err := fake.New(fake.GenericTypes(12), fake.Options{Clock: clock, LaunchLatency: 30 * time.Second, ShutdownLatency: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return conformance.Subject{
		Provider: cloud,
		Hooks: conformance.Hooks{
			Advance: func(d time.Duration) { clock.Advance(d); cloud.Settle() },
			SellOut: func(match func(cloudprovider.OfferingKey) bool) func() {
				cloud.SetStock(0, match)
				return func() { cloud.SetStock(-1, match) }
			},
			MakeDrift: func(id string) error { return cloud.SetDrift(id, "Moved") },
			Interrupt: cloud.Interrupt,
		},
	}
}

func TestFake(t *testing.T) { engine.Run(t, onFake, engine.DefaultOptions()) }

// A cloud that fails now and then gets there as well.
func TestFakeUnderManyFaults(t *testing.T) {
	factory := func(t testing.TB) conformance.Subject {
		clock := fake.NewSimClock(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC))
		cloud, err := fake.New(fake.GenericTypes(12), fake.Options{
			Clock: clock, LaunchLatency: 30 * time.Second, ShutdownLatency: 20 * time.Second,
			FaultModel: fake.FaultModel{Seed: 5, OutOfStock: 0.3, Stillborn: 0.1, MeanSpotLife: 12 * time.Hour, PriceEvery: 5 * time.Minute, PriceMove: 0.02},
		})
		if err != nil {
			t.Fatal(err)
		}
		return conformance.Subject{Provider: cloud, Hooks: conformance.Hooks{Advance: func(d time.Duration) { clock.Advance(d); cloud.Settle() }}}
	}
	for _, name := range []string{"ScaleUp", "Consolidate"} {
		t.Run(name, func(t *testing.T) { engine.Play(t, name, factory, within(500)) })
	}
}

// recorder is a test whose failure is looked at instead of suffered.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Errorf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }
func (r *recorder) Helper()                           {}

// broken is a fake that keeps less than it should.
type broken struct {
	*fake.Cloud
	blind bool
}

func (b *broken) IsDrifted(ctx context.Context, c *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	if b.blind {
		return "", nil
	}
	return b.Cloud.IsDrifted(ctx, c)
}

// What breaks the contract shows in the cluster.
func TestBroken(t *testing.T) {
	for scenario, b := range map[string]*broken{"Drift": {blind: true}, "Interrupt": {}} {
		factory := func(t testing.TB) conformance.Subject {
			s := onFake(t)
			b.Cloud = s.Provider.(*fake.Cloud)
			s.Provider = b
			if scenario == "Interrupt" { // it is announced, and nobody hears
				s.Interrupt = func(string, cloudprovider.InterruptionKind, time.Duration) error { return nil }
			}
			return s
		}
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			engine.Play(r, scenario, factory, within(60))
		}()
		<-done
		if r.failed == "" {
			t.Errorf("%s succeeds", scenario)
		}
	}
}

// An engine test is one line; here are the names of what it plays.
func Example() {
	fmt.Println(engine.Scenarios())
	fmt.Println(errors.Is(cloudprovider.NewInsufficientCapacityError(nil), cloudprovider.InsufficientCapacity)) // what FallBack is about
	// Output:
	// [ScaleUp FallBack Consolidate Drift Interrupt Repair Vanish]
	// true
}

// within are the default options with so many steps.
func within(steps int) engine.Options {
	o := engine.DefaultOptions()
	o.Steps = steps
	return o
}

// Options that can't be are refused with the cure.
func TestOptions(t *testing.T) {
	r := &failing{TB: t}
	func() {
		defer func() { _ = recover() }()
		engine.Play(r, engine.Scenarios()[0], onFake, engine.Options{})
	}()
	if !strings.Contains(r.said, "start from DefaultOptions") {
		t.Errorf("said %q", r.said)
	}
}

// failing notes what a test fails of, and ends there.
type failing struct {
	testing.TB
	said string
}

func (f *failing) Fatal(args ...any) {
	f.said = fmt.Sprint(args...)
	panic("ended")
}
