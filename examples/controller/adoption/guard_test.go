package adoption_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/examples/controller/adoption"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func lease(namespace, name, holder string, renewed time.Duration) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(holder), LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: now.Add(-renewed)},
		},
	}
}

func leases(t *testing.T, list ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := coordinationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(list...).
		WithIndex(&coordinationv1.Lease{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} }).Build()
}

// SET-055: a process that holds Karpenter's lease, in whatever namespace, acts; one that was released or has run out does not, nor do
// other leases count, this controller's own among them.
func TestGuard(t *testing.T) {
	const name = adoption.DefaultLease
	for what, c := range map[string]struct {
		lease *coordinationv1.Lease
		held  bool
	}{
		"held":                    {lease("karpenter", name, "karpenter-7", 10*time.Second), true},
		"released":                {lease("karpenter", name, "", 10*time.Second), false},
		"run out":                 {lease("karpenter", name, "karpenter-7", 15*time.Second), false},
		"another's":               {lease("karpenter", "other", "karpenter-7", time.Second), false},
		"this controller's own":   {lease("kube-system", name, "drawknife-7", time.Second), false},
		"never taken":             {&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "karpenter", Name: name}}, false},
		"of another installation": {lease("other", name, "karpenter-7", 0), true},
	} {
		t.Run(what, func(t *testing.T) {
			g := &adoption.Guard{Reader: leases(t, c.lease), Own: types.NamespacedName{Namespace: "kube-system", Name: name}, Clock: option.ClockFunc(func() time.Time { return now })}
			err := g.Check(t.Context())
			var held *adoption.HeldError
			if errors.As(err, &held) != c.held || (err != nil) != c.held {
				t.Fatalf("got %v", err)
			}
			if (g.Ready(nil) != nil) != c.held {
				t.Error("readiness says something else")
			}
			if c.held && (held.Holder != "karpenter-7" || held.Lease.Name != name || !held.Until.After(now) || !strings.Contains(err.Error(), "scale Karpenter's deployment to 0")) {
				t.Errorf("got %v", err)
			}
		})
	}
	ignoring := &adoption.Guard{Reader: leases(t, lease("karpenter", name, "karpenter-7", 0)), Ignored: true, Clock: option.ClockFunc(func() time.Time { return now })}
	if err := ignoring.Check(t.Context()); err != nil {
		t.Errorf("next to a Karpenter without NodePools: %v", err)
	}
	broken := interceptor.NewClient(leases(t), interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return apierrors.NewForbidden(coordinationv1.Resource("leases"), name, errors.New("no"))
	}})
	if err := (&adoption.Guard{Reader: broken}).Check(t.Context()); !apierrors.IsForbidden(err) {
		t.Errorf("what can't be found out is %v", err)
	}
}

// memory is a lock in memory.
type memory struct {
	resourcelock.Interface
	record *resourcelock.LeaderElectionRecord
}

func (m *memory) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if m.record == nil {
		return nil, nil, apierrors.NewNotFound(coordinationv1.Resource("leases"), "drawknife")
	}
	return m.record, nil, nil
}

func (m *memory) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	m.record = &r
	return nil
}

func (m *memory) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	m.record = &r
	return nil
}

// Nobody is elected while Karpenter acts, nor before what comes first has succeeded, once; a leader that Karpenter comes back to can
// give its lease away and do nothing else.
func TestLock(t *testing.T) {
	karpenter := lease("karpenter", adoption.DefaultLease, "karpenter-7", 0)
	c := leases(t, karpenter)
	var asked []bool
	var lost []string
	trouble := errors.New("not yet")
	l := &adoption.Lock{
		Interface: &memory{}, Guard: &adoption.Guard{Reader: c, Clock: option.ClockFunc(func() time.Time { return now })},
		First: func(_ context.Context, never bool) error {
			asked = append(asked, never)
			return trouble
		},
		Lost: func(held *adoption.HeldError) { lost = append(lost, held.Holder) },
	}
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "drawknife-1"}
	var held *adoption.HeldError
	_, _, err := l.Get(t.Context())
	if !errors.As(err, &held) || !errors.As(l.Create(t.Context(), mine), &held) || !errors.As(l.Update(t.Context(), mine), &held) || len(asked) > 0 {
		t.Errorf("while Karpenter acts: %v, asked %v", err, asked)
	}
	karpenter.Spec.HolderIdentity = new("")
	if err := c.Update(t.Context(), karpenter); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Get(t.Context()); !errors.Is(err, trouble) {
		t.Errorf("before what comes first: %v", err)
	}
	trouble = nil
	if _, _, err := l.Get(t.Context()); !apierrors.IsNotFound(err) {
		t.Errorf("the first replica finds %v", err)
	}
	if err := l.Create(t.Context(), mine); err != nil {
		t.Error(err)
	}
	if r, _, err := l.Get(t.Context()); err != nil || r.HolderIdentity != "drawknife-1" || len(asked) != 2 || !asked[0] {
		t.Errorf("got %v, %v, asked %v", r, err, asked)
	}
	karpenter.Spec.HolderIdentity = new("karpenter-8")
	if err := c.Update(t.Context(), karpenter); err != nil {
		t.Fatal(err)
	}
	if len(lost) > 0 {
		t.Errorf("lost to %v before anything was held", lost)
	}
	if err := l.Update(t.Context(), mine); !errors.As(err, &held) {
		t.Errorf("renewed next to Karpenter: %v", err)
	}
	if len(lost) != 1 || lost[0] != "karpenter-8" {
		t.Errorf("the leader is told that it is lost to %v", lost)
	}
	if _, _, err := l.Get(t.Context()); err != nil {
		t.Errorf("reading it, to give it away: %v", err)
	}
	if err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
		t.Errorf("giving it away: %v", err)
	}
	if _, _, err := l.Get(t.Context()); !errors.As(err, &held) || len(lost) != 1 {
		t.Errorf("after it is given away: %v, lost to %v", err, lost)
	}
}

// late is a lock of which a renewal arrives between its reading and its writing.
type late struct {
	memory
	renewals int
	taken    string
}

func (l *late) Identity() string { return "drawknife-1" }

func (l *late) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	if l.renewals > 0 {
		l.renewals--
		l.record = &resourcelock.LeaderElectionRecord{HolderIdentity: l.taken}
		return apierrors.NewConflict(coordinationv1.Resource("leases"), "drawknife", errors.New("it has changed"))
	}
	return l.memory.Update(ctx, r)
}

// A lock is given away though a renewal of its holder's own comes in between; one that a successor has by then is left alone.
func TestLockGivenAway(t *testing.T) {
	for taken, want := range map[string]string{"drawknife-1": "", "drawknife-2": "drawknife-2"} {
		below := &late{taken: taken}
		l := &adoption.Lock{Interface: below, Guard: &adoption.Guard{Reader: leases(t), Clock: option.ClockFunc(func() time.Time { return now })}}
		if err := l.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "drawknife-1"}); err != nil {
			t.Fatal(err)
		}
		below.renewals = 2
		err := l.Update(t.Context(), resourcelock.LeaderElectionRecord{})
		if below.record.HolderIdentity != want || (err == nil) != (want == "") {
			t.Errorf("when it is %s's meanwhile: it is %q's, %v", taken, below.record.HolderIdentity, err)
		}
	}
}
