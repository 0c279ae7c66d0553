package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// claimStore is a store in memory that knows orders by their token and can be made to fail.
type claimStore struct {
	mu      sync.Mutex
	byToken map[string]*v1.NodeClaim
	fail    map[string]error
	most    int
	current int
}

func (s *claimStore) CreateNodeClaim(ctx context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	s.mu.Lock()
	s.current++
	s.most = max(s.most, s.current)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.current--
		s.mu.Unlock()
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail[token]; err != nil {
		return nil, err
	}
	if known := s.byToken[token]; known != nil {
		return known.DeepCopy(), nil
	}
	stored := claim.DeepCopy()
	stored.Name = fmt.Sprintf("%s%d", claim.GenerateName, len(s.byToken))
	stored.UID = types.UID("uid-" + token)
	if s.byToken == nil {
		s.byToken = map[string]*v1.NodeClaim{}
	}
	s.byToken[token] = stored
	return stored.DeepCopy(), nil
}

func orderOf(cores int64, price float64, pods ...string) provisioning.Launch {
	l := provisioning.Launch{
		Claim: &v1.NodeClaim{}, Pool: v1.NewPoolKey("default"), Price: price,
		Capacity: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI)},
	}
	l.Claim.GenerateName = "default-"
	for _, p := range pods {
		l.Pods = append(l.Pods, scheduling.PodKey{Namespace: "default", Name: p})
	}
	return l
}

func newLauncher(t *testing.T, o provisioning.LauncherOptions) *provisioning.Launcher {
	t.Helper()
	l, err := provisioning.NewLauncher(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// PRV-040, PRV-043, OPP-32: each order on its own; limits count what is under way; nothing stays reserved of what failed.
func TestLaunch(t *testing.T) {
	tracker, store := limits.NewTracker(), &claimStore{fail: map[string]error{"pass-1/1": errors.New("admission webhook says no")}}
	pool := v1.NewPoolKey("default")
	if err := tracker.SetLimits(pool, corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("12")}); err != nil {
		t.Fatal(err)
	}
	launcher := newLauncher(t, provisioning.LauncherOptions{Claims: store, Limits: tracker})
	out := launcher.Launch(t.Context(), "pass-1", []provisioning.Launch{orderOf(4, 1, "a", "b"), orderOf(4, 1, "c"), orderOf(8, 1, "d")}, start)
	if !out.Failed || out.Launched[0].Err != nil || out.Launched[0].Claim.Name == "" {
		t.Fatalf("%+v", out)
	}
	var exceeded *limits.ExceededError
	if !errors.As(out.Launched[2].Err, &exceeded) || out.Launched[1].Err == nil {
		t.Errorf("%v, %v", out.Launched[1].Err, out.Launched[2].Err)
	}
	u := tracker.Usage(pool)
	if u.Launching != 1 || u.Planned != 0 || u.Used.Cpu().Value() != 4 {
		t.Errorf("books: %+v", u)
	}
	if entries := tracker.Entries(); len(entries) != 1 || entries[0].ID != "uid-pass-1/0" {
		t.Errorf("entries %+v", entries)
	}
	got := map[string]provisioning.EventReason{}
	for _, e := range out.Events {
		got[e.Name] = e.Reason
	}
	if got["a"] != provisioning.EventNominated || got["b"] != provisioning.EventNominated || got["c"] != provisioning.EventLaunchHeldBack || got["d"] != provisioning.EventLaunchHeldBack {
		t.Errorf("events %v", got)
	}
}

// What a failed request releases is left to the next pass: the refusals don't depend on how fast the store answers.
func TestLaunchChecksAllOrdersFirst(t *testing.T) {
	tracker, store := limits.NewTracker(), &claimStore{fail: map[string]error{"pass-1/0": errors.New("admission webhook says no")}}
	if err := tracker.SetLimits(v1.NewPoolKey("default"), corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("12")}); err != nil {
		t.Fatal(err)
	}
	one := 1
	// With one request at a time, the second order waits until the first has failed.
	launcher := newLauncher(t, provisioning.LauncherOptions{Claims: store, Limits: tracker, Parallelism: &one})
	out := launcher.Launch(t.Context(), "pass-1", []provisioning.Launch{orderOf(8, 1), orderOf(4, 1), orderOf(4, 1)}, start)
	var exceeded *limits.ExceededError
	if out.Launched[0].Err == nil || out.Launched[1].Err != nil || !errors.As(out.Launched[2].Err, &exceeded) {
		t.Errorf("%v, %v, %v", out.Launched[0].Err, out.Launched[1].Err, out.Launched[2].Err)
	}
}

// endingStore ends the context of the launches when the first claim is created.
type endingStore struct {
	claimStore
	end context.CancelFunc
}

func (s *endingStore) CreateNodeClaim(ctx context.Context, token string, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	s.end()
	return s.claimStore.CreateNodeClaim(ctx, token, claim)
}

// If the context ends after all orders were checked, claims that were not begun are not created, and nothing stays reserved for them.
func TestLaunchEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tracker, store := limits.NewTracker(), &endingStore{end: cancel}
	one := 1
	launcher := newLauncher(t, provisioning.LauncherOptions{Claims: store, Limits: tracker, Parallelism: &one})
	out := launcher.Launch(ctx, "pass-1", []provisioning.Launch{orderOf(4, 1), orderOf(4, 1), orderOf(4, 1)}, start)
	if out.Launched[0].Err != nil || !errors.Is(out.Launched[1].Err, context.Canceled) || !errors.Is(out.Launched[2].Err, context.Canceled) {
		t.Errorf("%v, %v, %v", out.Launched[0].Err, out.Launched[1].Err, out.Launched[2].Err)
	}
	if u := tracker.Usage(v1.NewPoolKey("default")); len(store.byToken) != 1 || u.Launching != 1 || u.Planned != 0 {
		t.Errorf("%d claims, counted as %+v", len(store.byToken), u)
	}
}

// A pass that is repeated because its answers were lost creates nothing twice and counts nothing twice.
func TestLaunchIsRepeatable(t *testing.T) {
	tracker, store := limits.NewTracker(), &claimStore{}
	rateLimiter := newRateLimiter(t, provisioning.RateLimiterOptions{NodesPerMinute: 3})
	launcher := newLauncher(t, provisioning.LauncherOptions{Claims: store, Limits: tracker, RateLimiter: rateLimiter})
	orders := []provisioning.Launch{orderOf(4, 1), orderOf(4, 1)}
	first := launcher.Launch(t.Context(), "pass-1", orders, start)
	second := launcher.Launch(t.Context(), "pass-1", orders[:1], start)
	if first.Failed || second.Failed || len(store.byToken) != 2 || first.Launched[0].Claim.UID != second.Launched[0].Claim.UID {
		t.Errorf("%+v %+v", first, second)
	}
	if u := tracker.Usage(v1.NewPoolKey("default")); u.Launching != 2 || u.Planned != 0 {
		t.Errorf("books: %+v", u)
	}
}

// What the rate limiter refuses is not reserved, and says when to come back.
func TestLaunchIsRateLimited(t *testing.T) {
	tracker := limits.NewTracker()
	rateLimiter := newRateLimiter(t, provisioning.RateLimiterOptions{NodesPerMinute: 1})
	launcher := newLauncher(t, provisioning.LauncherOptions{Claims: &claimStore{}, Limits: tracker, RateLimiter: rateLimiter})
	out := launcher.Launch(t.Context(), "pass-1", []provisioning.Launch{orderOf(4, 1), orderOf(4, 1)}, start)
	var limited *provisioning.RateLimitError
	if !errors.As(out.Launched[1].Err, &limited) || !out.Launched[1].RetryAt.Equal(at(60)) {
		t.Errorf("%+v", out.Launched[1])
	}
	if u := tracker.Usage(v1.NewPoolKey("default")); u.Launching != 1 || u.Planned != 0 {
		t.Errorf("books: %+v", u)
	}
	rateLimiter.Withdraw("uid-pass-1/0") // the claim found no capacity: known by its UID now
	if err := rateLimiter.Admit("next", 1, start); err != nil {
		t.Errorf("after it was withdrawn: %v", err)
	}
}

func TestLaunchIsBounded(t *testing.T) {
	store := &claimStore{}
	three := 3
	launcher := newLauncher(t, provisioning.LauncherOptions{Claims: store, Parallelism: &three})
	var orders []provisioning.Launch
	for range 40 {
		orders = append(orders, orderOf(1, 1))
	}
	if out := launcher.Launch(t.Context(), "p", orders, start); out.Failed || store.most > 3 || len(store.byToken) != 40 {
		t.Errorf("failed %t, at most %d at once, %d claims", out.Failed, store.most, len(store.byToken))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, l := range launcher.Launch(ctx, "q", orders[:2], start).Launched {
		if !errors.Is(l.Err, context.Canceled) {
			t.Errorf("after ctx ended: %v", l.Err)
		}
	}
}

// PRV-050: the finalizer is in the request that creates the claim; no moment is left in which a deletion takes the claim at
// once and its instance stays.
func TestLaunchWithFinalizer(t *testing.T) {
	store := &claimStore{}
	plain, own := orderOf(1, 1), orderOf(1, 1)
	own.Claim.Finalizers = []string{"example.com/other", v1.TerminationFinalizer}
	newLauncher(t, provisioning.LauncherOptions{Claims: store}).Launch(t.Context(), "p", []provisioning.Launch{plain, own}, start)
	for token, want := range map[string][]string{"p/0": {v1.TerminationFinalizer}, "p/1": {"example.com/other", v1.TerminationFinalizer}} {
		if got := store.byToken[token].Finalizers; !slices.Equal(got, want) {
			t.Errorf("order %s is created with finalizers %v, want %v", token, got, want)
		}
	}
	if len(plain.Claim.Finalizers) != 0 {
		t.Error("the order was changed")
	}
}

func TestLauncherOptions(t *testing.T) {
	none, negative := 0, -1
	for _, o := range []provisioning.LauncherOptions{{}, {Claims: &claimStore{}, Parallelism: &none}, {Claims: &claimStore{}, Parallelism: &negative}} {
		var wrong *option.Error
		if _, err := provisioning.NewLauncher(o); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
