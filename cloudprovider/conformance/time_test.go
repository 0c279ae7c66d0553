package conformance_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/conformance"
	"github.com/drawknife/drawknife/fake"
)

// A provider whose Get and List keep the dead is found without any hook, in the time that go test gives by itself, with a report on
// every clause.
func TestRealTimeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		report := conformance.Check(t, func(t testing.TB) conformance.Subject {
			return conformance.Subject{Provider: &keepsTheDead{Cloud: onRealTime(t), dead: map[string]*v1.NodeClaim{}}}
		}, chosen(func(o *conformance.Options) {
			o.Levels = []conformance.Level{conformance.Core}
			o.Parallel = 10
			o.Deadline = began.Add(9 * time.Minute)
		}))
		if took := time.Since(began); took > 9*time.Minute {
			t.Errorf("the run took %s of real time", took)
		}
		if diff := cmp.Diff([]string{"CP-GET-02", "CP-LIST-02"}, report.Failed()); diff != "" {
			t.Errorf("clauses that failed (-want +got):\n%s", diff)
		}
		if !strings.Contains(faultsOf(report, "CP-GET-02"), "give Options.Patience or the hook Advance") {
			t.Errorf("it does not say what would have it wait for longer: %s", faultsOf(report, "CP-GET-02"))
		}
		for _, r := range report.Results {
			if r.Outcome == conformance.Failed && (strings.Contains(r.Faults[0], "not tested") || strings.HasPrefix(r.Clause, "CP-DELETE")) {
				t.Errorf("%s: %s", r.Clause, r.Faults[0])
			}
		}
	})
}

// A call that never comes back ends with the deadline, and so does every clause that comes after it.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		began := time.Now()
		report := conformance.Check(t, func(t testing.TB) conformance.Subject {
			return conformance.Subject{Provider: &hangs{Cloud: onRealTime(t), release: release}}
		}, chosen(func(o *conformance.Options) {
			o.Clauses = []string{"CP-DESCRIBE-02", "CP-CREATE-01", "CP-GET-01"}
			o.Deadline = began.Add(time.Minute)
		}))
		if took := time.Since(began); took > time.Minute+15*time.Second {
			t.Errorf("the run took %s, a minute was given", took)
		}
		for clause, want := range map[string]string{
			"CP-CREATE-01": "has not come back though its context has ended",
			"CP-GET-01":    "not tested: the time of the run is over",
		} {
			if got := faultsOf(report, clause); !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", clause, got, want)
			}
		}
		if slices.Contains(report.Failed(), "CP-DESCRIBE-02") {
			t.Error("CP-DESCRIBE-02 failed, which asks the cloud for nothing")
		}
	})
}

// What a factory cleans up may take its time while there is some: closing a server, for instance.
func TestSlowCleanUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		report := conformance.Check(t, func(t testing.TB) conformance.Subject {
			t.Cleanup(func() { time.Sleep(20 * time.Second) })
			return conformance.Subject{Provider: onRealTime(t)}
		}, chosen(func(o *conformance.Options) {
			o.Clauses = []string{"CP-DESCRIBE-02", "CP-LIST-06"}
			o.Deadline = time.Now().Add(5 * time.Minute)
		}))
		for _, r := range report.Results {
			if r.Outcome != conformance.Passed {
				t.Errorf("%s: %s, %v", r.Clause, r.Outcome, r.Faults)
			}
		}
	})
}

func faultsOf(report *conformance.Report, clause string) string {
	for _, r := range report.Results {
		if r.Clause == clause {
			return strings.Join(r.Faults, "\n")
		}
	}
	return ""
}

// onRealTime is a cloud whose instances take two seconds to go.
func onRealTime(t testing.TB) *fake.Cloud {
	cloud, err := fake.New(fake.GenericTypes(4), fake.Options{ShutdownLatency: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return cloud
}

// keepsTheDead describes instances for ever.
type keepsTheDead struct {
	*fake.Cloud
	mu   sync.Mutex
	dead map[string]*v1.NodeClaim
}

func (k *keepsTheDead) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	created, err := k.Cloud.Create(ctx, claim)
	if err == nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		dead, now := created.DeepCopy(), metav1.Now()
		dead.DeletionTimestamp = &now
		k.dead[created.Status.ProviderID] = dead
	}
	return created, err
}

func (k *keepsTheDead) Get(ctx context.Context, id string) (*v1.NodeClaim, error) {
	got, err := k.Cloud.Get(ctx, id)
	k.mu.Lock()
	defer k.mu.Unlock()
	if dead := k.dead[id]; dead != nil && cloudprovider.IsNodeClaimNotFound(err) {
		return dead, nil
	}
	return got, err
}

func (k *keepsTheDead) List(ctx context.Context) ([]*v1.NodeClaim, error) {
	all, err := k.Cloud.List(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, dead := range k.dead {
		if !slices.ContainsFunc(all, func(c *v1.NodeClaim) bool { return c.Status.ProviderID == dead.Status.ProviderID }) {
			all = append(all, dead)
		}
	}
	slices.SortFunc(all, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Status.ProviderID, b.Status.ProviderID) })
	return all, err
}

// hangs never answers Create.
type hangs struct {
	*fake.Cloud
	release chan struct{}
}

func (h *hangs) Create(context.Context, *v1.NodeClaim) (*v1.NodeClaim, error) {
	<-h.release
	return nil, cloudprovider.NewTransientError(nil)
}
