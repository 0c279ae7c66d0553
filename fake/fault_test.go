package fake_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func inject(t *testing.T, cloud *fake.Cloud, faults ...fake.Fault) {
	t.Helper()
	if err := cloud.Inject(faults...); err != nil {
		t.Fatal(err)
	}
}

// methods calls each method of the provider about one instance, which must exist and have a message waiting.
func methods(cloud *fake.Cloud, c *v1.NodeClaim) map[fake.Method]func(context.Context) error {
	return map[fake.Method]func(context.Context) error{
		fake.MethodInstanceTypes: func(ctx context.Context) error { _, err := cloud.InstanceTypes(ctx, &v1.NodePool{}); return err },
		fake.MethodCreate:        func(ctx context.Context) error { _, err := cloud.Create(ctx, c); return err },
		fake.MethodCreateGroup: func(ctx context.Context) error {
			_, err := cloud.CreateGroup(ctx, []*v1.NodeClaim{c})
			return err
		},
		fake.MethodDelete:    func(ctx context.Context) error { return cloud.Delete(ctx, c) },
		fake.MethodGet:       func(ctx context.Context) error { _, err := cloud.Get(ctx, c.Status.ProviderID); return err },
		fake.MethodList:      func(ctx context.Context) error { _, err := cloud.List(ctx); return err },
		fake.MethodIsDrifted: func(ctx context.Context) error { _, err := cloud.IsDrifted(ctx, c); return err },
		fake.MethodReceiveInterruptions: func(ctx context.Context) error {
			_, err := cloud.ReceiveInterruptions(ctx)
			return err
		},
		fake.MethodAckInterruptions: func(ctx context.Context) error { return cloud.AckInterruptions(ctx, "unknown") },
		fake.MethodNodeClassStatus: func(ctx context.Context) error {
			_, err := cloud.NodeClassStatus(ctx, c.Spec.NodeClassRef)
			return err
		},
		fake.MethodRegistered: func(ctx context.Context) error { _, err := cloud.Registered(ctx, c); return err },
	}
}

// CP-ERROR-01, CP-ERROR-02, CP-ERROR-04, CP-ERROR-05, CP-ERROR-07: any error can strike any method, keeps its kind and
// strikes no more; an ended context strikes first and is told apart.
func TestFaultsStrikeEveryMethod(t *testing.T) {
	injected := []error{
		cloudprovider.NewThrottledError("Describe", time.Second, nil),
		cloudprovider.NewUnauthorizedError("fake:Do", nil),
		cloudprovider.NewTransientError(errors.New("brown-out")),
		cloudprovider.NewPermanentError(errors.New("no")),
		errors.New("without a kind"),
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	cloud, clock := testCloud(t, fake.Options{ShutdownLatency: 24 * time.Hour})
	c := claim("a")
	c.Status = create(t, cloud, c).Status
	if err := cloud.Interrupt(c.Status.ProviderID, cloudprovider.InterruptionRebalance, 0); err != nil {
		t.Fatal(err)
	}
	for method, call := range methods(cloud, c) {
		calls := cloud.Calls(method)
		for _, want := range injected {
			clock.Advance(time.Minute) // the message comes again
			inject(t, cloud, fake.Fault{Method: method, Err: want})
			if err := call(ended); !errors.Is(err, context.Canceled) || errors.Is(err, want) {
				t.Errorf("%s with an ended context: %v", method, err)
			}
			if err := call(context.Background()); !errors.Is(err, want) || cloudprovider.KindOf(err) != cloudprovider.KindOf(want) {
				t.Errorf("%s: got %v, want %v", method, err, want)
			}
			if err := call(context.Background()); err != nil {
				t.Errorf("%s after the fault: %v", method, err)
			}
		}
		if got := cloud.Calls(method) - calls; got != 2*len(injected) {
			t.Errorf("%s: %d calls were counted, want %d", method, got, 2*len(injected))
		}
	}
}

func TestWhichCallsFail(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	tests := []struct {
		name   string
		faults []fake.Fault
		want   string // what the calls say, one letter each
	}{
		{"the next one", []fake.Fault{{Err: first}}, "1...."},
		{"the third", []fake.Fault{{Err: first, Skip: 2}}, "..1.."},
		{"the second and third", []fake.Fault{{Err: first, Skip: 1, More: 1}}, ".11.."},
		{"from the third on", []fake.Fault{{Err: first, Skip: 2, More: -1}}, "..111"},
		{"two in a row", []fake.Fault{{Err: first, More: 1}, {Err: second, Skip: 2}}, "112.."},
		{"two at once", []fake.Fault{{Err: first, Skip: 1}, {Err: second, Skip: 1, More: 1}}, ".12.."},
		{"another method", []fake.Fault{{Method: fake.MethodGet, Err: first}}, "....."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cloud, _ := testCloud(t, fake.Options{})
			for _, fault := range tt.faults {
				if fault.Method == "" {
					fault.Method = fake.MethodList
				}
				inject(t, cloud, fault)
			}
			var got string
			for range 5 {
				_, err := cloud.List(context.Background())
				switch {
				case errors.Is(err, first):
					got += "1"
				case errors.Is(err, second):
					got += "2"
				default:
					got += "."
				}
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestInjectRefusesBadFaults(t *testing.T) {
	cloud, _ := testCloud(t, fake.Options{})
	sound := fake.Fault{Method: fake.MethodList, Err: errors.New("x")}
	for name, fault := range map[string]fake.Fault{
		"no error":       {Method: fake.MethodList},
		"no method":      {Err: errors.New("x")},
		"unknown method": {Method: "Guess", Err: errors.New("x")},
		"call -1":        {Method: fake.MethodList, Err: errors.New("x"), Skip: -1},
	} {
		if err := cloud.Inject(sound, fault); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	list(t, cloud) // the sound one was refused with the others
}

// CP-CREATE-09: a launch whose answer is lost leaves an instance that List shows and that the next Create answers with;
// a launch that fails leaves none.
func TestLostAndFailedLaunches(t *testing.T) {
	timeout := cloudprovider.NewTransientError(errors.New("no answer"))
	for _, lost := range []bool{true, false} {
		t.Run(fmt.Sprintf("lost %v", lost), func(t *testing.T) {
			cloud, _ := testCloud(t, fake.Options{})
			inject(t, cloud, fake.Fault{Method: fake.MethodCreate, Err: timeout, Lost: lost})
			if got, err := cloud.Create(context.Background(), claim("a")); got != nil || !errors.Is(err, timeout) {
				t.Fatalf("got %v, %v", got, err)
			}
			orphans := list(t, cloud)
			if found := len(orphans) == 1; found != lost {
				t.Fatalf("%d instances are left", len(orphans))
			}
			again := create(t, cloud, claim("a"))
			if lost {
				if diff := cmp.Diff(orphans[0], again); diff != "" {
					t.Errorf("another instance (-want +got):\n%s", diff)
				}
			}
			if got := list(t, cloud); len(got) != 1 {
				t.Errorf("%d instances at last", len(got))
			}
		})
	}
}

// CP-DELETE-02: a termination whose answer is lost is under way all the same.
func TestLostDelete(t *testing.T) {
	ctx := context.Background()
	cloud, _ := testCloud(t, fake.Options{})
	created := create(t, cloud, claim("a"))
	lost := errors.New("no answer")
	inject(t, cloud, fake.Fault{Method: fake.MethodDelete, Err: lost, Lost: true, More: 1})
	if err := cloud.Delete(ctx, created); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
	// Both are true of the second call: its answer is lost, and the instance is gone.
	if err := cloud.Delete(ctx, created); !errors.Is(err, lost) || !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("got %v", err)
	}
	if err := cloud.Delete(ctx, created); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("got %v", err)
	}
}

// CP-CREATE-07: offerings that an injected error names are shown as unavailable too, so that the contract holds.
func TestInjectedExhaustionIsRemembered(t *testing.T) {
	spot := cloudprovider.OfferingKey{InstanceType: "m1.large", Zone: "test-region-1b", CapacityType: "spot"}
	medium := cloudprovider.OfferingKey{InstanceType: "m1.medium", Zone: "test-region-1b", CapacityType: "on-demand"}
	unknown := cloudprovider.OfferingKey{InstanceType: "x9.large"}
	cloud, clock := testCloud(t, fake.Options{StockOutMemory: ptr(time.Minute)})
	cloud.SetAvailable(false, func(k cloudprovider.OfferingKey) bool { return k == medium })
	for _, err := range []error{
		cloudprovider.NewInsufficientCapacityError(nil, spot, unknown),
		cloudprovider.NewQuotaExceededError("vCPUs", nil, medium),
	} {
		inject(t, cloud, fake.Fault{Method: fake.MethodCreate, Err: err})
		if _, got := cloud.Create(context.Background(), claim("a")); cloudprovider.KindOf(got) != cloudprovider.KindOf(err) {
			t.Errorf("got %v, want %v", got, err)
		}
	}
	if diff := cmp.Diff([]string{medium.String(), spot.String()}, unavailable(t, cloud)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	clock.Advance(time.Minute)
	if diff := cmp.Diff([]string{medium.String()}, unavailable(t, cloud)); diff != "" {
		t.Errorf("after a minute, only what was closed for good (-want +got):\n%s", diff)
	}
}

// CP-CLASS-01, CP-CLASS-02, CP-CLASS-03, CP-CREATE-10, PRV-054, PRV-085.
func TestNodeClassStatus(t *testing.T) {
	ctx := context.Background()
	cloud, _ := testCloud(t, fake.Options{})
	ref := claim("a").Spec.NodeClassRef
	if got, err := cloud.NodeClassStatus(ctx, ref); err != nil || !got.Ready() {
		t.Errorf("at first: %v, %v", got, err)
	}
	missing := cloudprovider.NodeClassReadiness{
		Status: metav1.ConditionFalse, Reason: cloudprovider.NodeClassNotFound, Message: "create the FakeNodeClass",
	}
	cloud.SetNodeClassStatus(ref, missing)
	got, err := cloud.NodeClassStatus(ctx, ref)
	if err != nil || got.Ready() {
		t.Errorf("missing: %v, %v", got, err)
	}
	if diff := cmp.Diff(missing, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = cloud.Create(ctx, claim("a"))
	want := `launching nodeclaim "a": node class "FakeNodeClass default" is not ready: NodeClassNotFound: create the FakeNodeClass`
	if !cloudprovider.IsNodeClassNotReady(err) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if instances := list(t, cloud); len(instances) != 0 {
		t.Errorf("%d instances were launched", len(instances))
	}
	other := claim("b")
	other.Spec.NodeClassRef.Name = "other"
	create(t, cloud, other)
	cloud.SetNodeClassStatus(ref, cloudprovider.NodeClassReadiness{Status: metav1.ConditionTrue})
	create(t, cloud, claim("a"))
	if _, err := cloud.NodeClassStatus(ctx, v1.NodeClassReference{Group: "x", Kind: "Y", Name: "z"}); !cloudprovider.IsPermanent(err) {
		t.Errorf("a kind that is not served: %v", err)
	}
}
