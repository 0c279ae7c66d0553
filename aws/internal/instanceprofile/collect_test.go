package instanceprofile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/drifthash"
)

// AWN-147, AWN-148, AWN-364, AWI-212: what nobody uses goes, below the cluster's path alone; what was made or gave way within the hour
// stays, and so does what is in use.
func TestCollect(t *testing.T) {
	m, a := newManager(t)
	for _, name := range []string{"used", "old-1", "old-2", "old-3"} {
		a.profiles[name] = &Profile{Name: name, Path: "/karpenter/us-east-1/demo/u-0/", Roles: []string{"nodes"}}
	}
	a.profiles["foreign"] = &Profile{Name: "foreign", Path: "/karpenter/us-east-1/demo2/u-0/"}
	made := ensure(t, m, wanted("old-3"))
	if made != "old-3" {
		t.Fatal(made)
	}
	w := wanted("old-3")
	w.Role = "other"
	made = ensure(t, m, w)
	collect := func() []string {
		t.Helper()
		deleted, err := m.Collect(t.Context(), func(context.Context) ([]string, error) { return []string{"used"}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return deleted
	}
	if diff := cmp.Diff([]string{"old-1", "old-2"}, collect()); diff != "" {
		t.Error(diff)
	}
	a.now = a.now.Add(Protection)
	if diff := cmp.Diff([]string{made, "old-3"}, collect()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"foreign", "used"}, slices.Sorted(maps.Keys(a.profiles))); diff != "" {
		t.Error(diff)
	}
}

// AWN-148: the first failure ends the pass, and nothing goes while it isn't known what is in use.
func TestCollectFails(t *testing.T) {
	m, a := newManager(t)
	for _, name := range []string{"a", "b"} {
		a.profiles[name] = &Profile{Name: name, Path: m.Path()}
	}
	boom := errors.New("boom")
	if _, err := m.Collect(t.Context(), func(context.Context) ([]string, error) { return nil, boom }); !errors.Is(err, boom) || len(a.profiles) != 2 {
		t.Errorf("%v", err)
	}
	nobody := func(context.Context) ([]string, error) { return nil, nil }
	a.fail["Delete"] = apiError("ServiceFailure", "no")
	if deleted, err := m.Collect(t.Context(), nobody); err == nil || len(deleted) != 0 || len(a.profiles) != 2 {
		t.Errorf("%v, %v", deleted, err)
	}
	a.fail["List"] = apiError("AccessDenied", "no")
	if _, err := m.Collect(t.Context(), nobody); err == nil {
		t.Error("a list that failed is none")
	}
	if deleted, err := m.Collect(t.Context(), nobody); err != nil || len(deleted) != 2 {
		t.Errorf("%v, %v", deleted, err)
	}
}

// AWN-091, AWN-149, AWN-169, AWN-364: a class's profiles go with it, that of an older release too if it is the cluster's.
func TestDeleteNodeClass(t *testing.T) {
	m, a := newManager(t)
	legacy := "demo_" + drifthash.Of("us-east-1std")
	for range 2 { // the second time nothing is left
		if err := m.DeleteNodeClass(t.Context(), "std", "u-1"); err != nil {
			t.Fatal(err)
		}
	}
	ensure(t, m, wanted(""))
	a.profiles["second"] = &Profile{Name: "second", Path: "/karpenter/us-east-1/demo/u-1/"}
	a.profiles["other"] = &Profile{Name: "other", Path: "/karpenter/us-east-1/demo/u-2/"}
	a.profiles[legacy] = &Profile{Name: legacy, Path: "/", Roles: []string{"nodes"}}
	a.fail["Delete"] = apiError("ServiceFailure", "no")
	if err := m.DeleteNodeClass(t.Context(), "std", "u-1"); err == nil || len(a.profiles) != 3 {
		t.Errorf("%v; left: %v", err, a.profiles)
	}
	if err := m.DeleteNodeClass(t.Context(), "std", "u-1"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{legacy, "other"}, slices.Sorted(maps.Keys(a.profiles))); diff != "" {
		t.Error(diff)
	}
	a.profiles[legacy].Tags = map[string]string{"kubernetes.io/cluster/demo": "owned"}
	if err := m.DeleteNodeClass(t.Context(), "std", "u-1"); err != nil || a.profiles[legacy] != nil {
		t.Errorf("%v; left: %v", err, a.profiles)
	}
	if err := m.DeleteNodeClass(t.Context(), "std", ""); err == nil {
		t.Error("a class without a UID has the path of all classes")
	}
}

// AWN-171, AWN-358: all of the cluster's go.
func TestDeleteAll(t *testing.T) {
	m, a := newManager(t)
	ensure(t, m, wanted(""))
	a.profiles["other"] = &Profile{Name: "other", Path: "/karpenter/us-east-1/demo/u-2/"}
	a.profiles["foreign"] = &Profile{Name: "foreign", Path: "/karpenter/us-west-2/demo/u-2/"}
	if err := m.DeleteAll(t.Context()); err != nil || len(a.profiles) != 1 {
		t.Errorf("%v; left: %v", err, a.profiles)
	}
}

// A profile that is taken up again is not collected meanwhile.
func TestCollectWaits(t *testing.T) {
	m, a := newManager(t)
	name := m.Name("u-1", "nodes")
	a.profiles[name] = &Profile{Name: name, Path: m.Path(), Roles: []string{"nodes"}}
	deleted, err := m.Collect(t.Context(), func(ctx context.Context) ([]string, error) {
		_, err := m.Ensure(ctx, wanted(""))
		return nil, err
	})
	if err != nil || len(deleted) != 0 || a.profiles[name] == nil {
		t.Errorf("%v, %v", deleted, err)
	}
	end, err := m.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := m.Ensure(ctx, wanted("")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting without end: %v", err)
	}
}
