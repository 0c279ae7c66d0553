package market_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
	"github.com/drawknife/drawknife/examples/controller/market"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

func newKeeper(c client.Client, parts ...market.Part) (*market.Keeper, *bytes.Buffer) {
	var log bytes.Buffer
	return &market.Keeper{Client: c, Reader: c, Namespace: "kube-system", Name: "history", Parts: parts, Logger: slog.New(slog.NewTextHandler(&log, nil))}, &log
}

// text is a part that is a text.
func text(name string, value *string) market.Part {
	return market.Part{Name: name, Export: func() ([]byte, error) { return []byte(*value), nil }, Import: func(b []byte) error {
		if string(b) == "refused" {
			return errors.New("refused")
		}
		*value = string(b)
		return nil
	}}
}

func stored(t *testing.T, c client.Client) *corev1.ConfigMap {
	t.Helper()
	found := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "kube-system", Name: "history"}, found); err != nil {
		t.Fatal(err)
	}
	return found
}

// What one process has learned the next one knows; what has not changed is not written, and keys of others stay.
func TestKeeper(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "history"}, Data: map[string]string{"other": "x"}}).Build()
	m, err := spotrisk.New(spotrisk.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	k := spotrisk.Key{InstanceType: "m5.large", Zone: "a"}
	m.ObserveInterruption(k, start)
	note := "first"
	first, _ := newKeeper(c, market.SpotHistory(m), text("note", &note))
	if err := first.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := first.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	version := stored(t, c).ResourceVersion
	if err := first.Save(t.Context()); err != nil || stored(t, c).ResourceVersion != version {
		t.Errorf("saved without a change, %v", err)
	}
	if stored(t, c).Data["other"] != "x" {
		t.Error("the key of another is gone")
	}
	again, err := spotrisk.New(spotrisk.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	read := ""
	second, log := newKeeper(c, market.SpotHistory(again), text("note", &read))
	if err := second.Load(t.Context()); err != nil || read != "first" || log.Len() > 0 {
		t.Errorf("read %q, %v, %s", read, err, log)
	}
	var want, got bytes.Buffer
	if err := errors.Join(m.Export(&want), again.Export(&got)); err != nil || want.String() != got.String() {
		t.Errorf("read back, %v: %s", err, cmp.Diff(want.String(), got.String()))
	}
}

// A part that can't be read is left out and replaced, one that is too large is not saved; the others are.
func TestKeeperFaults(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	refused, note := "refused", "note"
	k, _ := newKeeper(c, text("bad", &refused), text("note", &note))
	if err := errors.Join(k.Load(t.Context()), k.Save(t.Context())); err != nil {
		t.Fatal(err)
	}
	bad, read := "new", ""
	next, log := newKeeper(c, text("bad", &bad), text("note", &read))
	if err := next.Load(t.Context()); err != nil || read != "note" || bad != "new" || !strings.Contains(log.String(), "part=bad") {
		t.Errorf("%v, %q, %q, %s", err, read, bad, log)
	}
	noise := make([]byte, 2<<20)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = byte(x >> 24)
	}
	large, changed := string(noise), "changed"
	full, _ := newKeeper(c, text("large", &large), text("note", &changed))
	if err := full.Save(t.Context()); err == nil || !strings.Contains(err.Error(), "part large") {
		t.Errorf("a part of 2 MiB: %v", err)
	}
	if err := next.Load(t.Context()); err != nil || read != "changed" {
		t.Errorf("the part after it: %q, %v", read, err)
	}
}

// Clusters report to each other through a directory or a ConfigMap; what can't be read is left out and named, and old reports don't count
// as sharing.
func TestSharing(t *testing.T) {
	directory := t.TempDir()
	c := fake.NewClientBuilder().Build()
	for name, store := range map[string]market.Store{
		"directory": market.Directory(directory), "ConfigMap": market.ConfigMap{Client: c, Reader: c, Namespace: "kube-system", Name: "history"},
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			clock := option.ClockFunc(func() time.Time { return now })
			cluster := func(name string, used float64) *market.Sharing {
				return &market.Sharing{Cluster: name, Store: store, Clock: clock, Uses: func() commitments.Uses { return commitments.Uses{"sp": used} }}
			}
			a, b := cluster("a", 1), cluster("b", 2)
			for _, s := range []*market.Sharing{a, b, a, b} {
				if err := s.Exchange(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			want := []commitments.ClusterUse{{Cluster: "a", At: start, Uses: commitments.Uses{"sp": 1}}, {Cluster: "b", At: start, Uses: commitments.Uses{"sp": 2}}}
			if diff := cmp.Diff(want, a.Reports()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := a.Clusters(); !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("sharing %q", got)
			}
			now = now.Add(time.Hour)
			if got := a.Clusters(); got != nil {
				t.Errorf("after an hour %q", got)
			}
			unplanned := &market.Sharing{Cluster: "c", Store: store, Uses: func() commitments.Uses { return nil }}
			if err := unplanned.Exchange(t.Context()); err != nil || len(unplanned.Reports()) != 2 {
				t.Errorf("a cluster that has not planned: %v, %v", err, unplanned.Reports())
			}
			if err := cluster("../x", 1).Exchange(t.Context()); err == nil {
				t.Error("a name that leaves the directory is taken")
			}
		})
	}
	if err := os.WriteFile(filepath.Join(directory, "bad.commitments.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := market.Directory(directory).List(t.Context()); len(list) != 2 || err == nil || !strings.Contains(err.Error(), "bad.commitments.json") {
		t.Errorf("%v, %v", list, err)
	}
}

// Scores are asked for the shapes of own spot nodes, those with most nodes first, and count for all types of the shape.
func TestScores(t *testing.T) {
	costs, spot := newCosts(t, nil)
	large := func(name string) *cloudprovider.InstanceType {
		it := instanceType(name, 0.2)
		it.Capacity = instanceType(name, 0.2).Capacity.DeepCopy()
		it.Capacity[corev1.ResourceCPU] = *it.Capacity.Memory() // any other amount
		return it
	}
	s := snapshot(start, instanceType("a", 0.1), instanceType("b", 0.1), instanceType("c", 0.1), large("x"), large("y"), large("z"))
	s.Nodes = []scheduling.Node{node("n1", "x", "spot"), node("n2", "a", "spot"), node("n3", "b", "spot")}
	costs.Model(s)
	want := [][]string{{"a", "b", "c"}, {"x", "y", "z"}}
	if diff := cmp.Diff(want, costs.Peers()); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	var asked [][]string
	scores := &market.Scores{Peers: costs.Peers, Market: spot, Configurations: 1, Clock: option.ClockFunc(func() time.Time { return start }),
		Ask: func(_ context.Context, types []string) (map[string]int, error) {
			asked = append(asked, types)
			return map[string]int{"a": 10}, nil
		}}
	if n, err := scores.Refresh(t.Context()); n != 1 || err != nil || len(asked) != 1 {
		t.Errorf("asked %v, %v", asked, err)
	}
	it := instanceType("c", 0.1)
	if got := spot.Cost(it, &it.Offerings[1], spotrisk.DefaultLoss(), start).Refused; got != 0 {
		t.Errorf("with the best score %v of launches are refused", got)
	}
	scores.Ask = func(context.Context, []string) (map[string]int, error) { return nil, errors.New("no more") }
	if n, err := scores.Refresh(t.Context()); n != 0 || err == nil {
		t.Errorf("a failure: %d, %v", n, err)
	}
}
