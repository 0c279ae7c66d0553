package learned_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/learned"
)

// restart is the snapshot of a process that knows the cluster's objects alone: the pool bears what was to be kept, and nodes are as given.
func restart(s *scheduling.Snapshot, corrections learned.Corrections, later time.Duration) *scheduling.Snapshot {
	pool := s.NodePools[0].Object.DeepCopy()
	pool.Annotations = map[string]string{v1.LearnedDevicesAnnotationKey: corrections.Annotation(v1.NewPoolKey("default"))}
	next := *s
	next.Time = s.Time.Add(later)
	next.NodePools = []scheduling.NodePool{{Object: pool, Catalog: s.NodePools[0].Catalog}}
	return &next
}

func withoutNodes(s *scheduling.Snapshot) *scheduling.Snapshot {
	next := *s
	next.Nodes, next.ResourceSlices = nil, nil
	return &next
}

// A restart changes nothing, be there nodes of the type or not; what was learned grows old once the last of them is gone.
func TestRestart(t *testing.T) {
	s := fleet(gpus(1, "24Gi", "productName=A")...)
	join(s, "a", gpus(2, "22Gi", "productName=B")...)
	before := learn(t, s)
	if len(before) != 1 {
		t.Fatalf("learned %v", print(before))
	}
	for name, s := range map[string]*scheduling.Snapshot{
		"with the node":                 restart(s, before, 0),
		"without it":                    withoutNodes(restart(s, before, 0)),
		"without it, four weeks later":  withoutNodes(restart(s, before, 28*24*time.Hour)),
		"without it, at no known time":  withoutNodes(restart(s, before, -s.Time.Sub(time.Time{}))),
		"twice":                         withoutNodes(restart(s, learn(t, restart(s, before, 0)), 0)),
		"with the node, an hour later":  restart(s, before, time.Hour),
		"another node is coming up now": func() *scheduling.Snapshot { next := withoutNodes(restart(s, before, 0)); join(next, "b"); return next }(),
	} {
		if diff := cmp.Diff(before, learn(t, s)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
	}
	if got := learn(t, withoutNodes(restart(s, before, learned.Lifetime+24*time.Hour))); len(got) > 0 {
		t.Errorf("still known after %s: %v", learned.Lifetime, print(got))
	}
	renewed := learn(t, restart(s, before, 40*24*time.Hour))
	if got := learn(t, withoutNodes(restart(restart(s, before, 40*24*time.Hour), renewed, 20*24*time.Hour))); len(got) != 1 {
		t.Error("a node that was there 20 days ago is forgotten")
	}
}

// Nodes that come one after the other confirm each other; one that is broken takes nothing away from what is known; a node as the type says ends a correction.
func TestWitnesses(t *testing.T) {
	alone := func(name string, n int) func(*scheduling.Snapshot) {
		return func(s *scheduling.Snapshot) { join(s, name, gpus(n, "24Gi")...) }
	}
	for name, c := range map[string]struct {
		steps []func(*scheduling.Snapshot)
		want  []string
		nodes []string
	}{
		"one with fewer":               {[]func(*scheduling.Snapshot){alone("a", 1)}, []string{"unconfirmed"}, []string{"a"}},
		"the same one again":           {[]func(*scheduling.Snapshot){alone("a", 1), alone("a", 1)}, []string{"unconfirmed"}, []string{"a"}},
		"another one":                  {[]func(*scheduling.Snapshot){alone("a", 1), alone("b", 1)}, []string{driver + " gpu-0 memory=24Gi"}, []string{"a", "b"}},
		"a third":                      {[]func(*scheduling.Snapshot){alone("b", 1), alone("c", 1), alone("a", 1)}, []string{driver + " gpu-0 memory=24Gi"}, []string{"b", "c"}},
		"even fewer":                   {[]func(*scheduling.Snapshot){alone("a", 2), alone("b", 1)}, []string{"unconfirmed"}, []string{"b"}},
		"fewer than is confirmed":      {[]func(*scheduling.Snapshot){alone("a", 2), alone("b", 2), alone("c", 1)}, []string{driver + " gpu-0 memory=24Gi", driver + " gpu-1 memory=24Gi"}, []string{"a", "b"}},
		"as the type says, after that": {[]func(*scheduling.Snapshot){alone("a", 1), alone("b", 1), alone("c", 3)}, nil, nil},
	} {
		s := fleet(gpus(3, "24Gi")...)
		var got learned.Corrections
		for _, step := range c.steps {
			s = withoutNodes(restart(s, got, time.Minute))
			step(s)
			got = learn(t, s)
		}
		var nodes []string
		for _, one := range got {
			nodes = append(nodes, one.Nodes...)
		}
		if diff := cmp.Diff(c.want, print(got)) + cmp.Diff(c.nodes, nodes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// An annotation that is not what was written is a problem of its pool, and counts as empty.
func TestUnreadable(t *testing.T) {
	good := learned.Corrections{{Pool: v1.NewPoolKey("default"), InstanceType: "large", Driver: driver, Nodes: []string{"a"}, Seen: start,
		Pools: []cloudprovider.DevicePool{{Driver: driver, Devices: gpus(2, "22Gi")}}}}
	bad := func(change func(*learned.Correction)) string {
		one := good[0]
		change(&one)
		return learned.Corrections{one}.Annotation(one.Pool)
	}
	for name, text := range map[string]string{
		"no base64": "{}", "not packed": "e30=", "too long": strings.Repeat("A", 1<<20),
		"a pool of another driver": bad(func(c *learned.Correction) { c.Driver = "other.example.com" }),
		"no type":                  bad(func(c *learned.Correction) { c.InstanceType = "" }),
		"no nodes":                 bad(func(c *learned.Correction) { c.Nodes = nil }),
		"names twice": bad(func(c *learned.Correction) {
			c.Pools = []cloudprovider.DevicePool{{Driver: driver, Devices: append(gpus(1, "1Gi"), gpus(1, "1Gi")...)}}
		}),
		"too many devices": bad(func(c *learned.Correction) {
			c.Pools = []cloudprovider.DevicePool{{Driver: driver, Devices: gpus(1025, "1Gi")}}
		}),
	} {
		s := fleet(gpus(1, "24Gi")...)
		s.NodePools[0].Object.Annotations = map[string]string{v1.LearnedDevicesAnnotationKey: text}
		got, problems := learned.Devices(s)
		var unreadable *learned.AnnotationError
		if len(got) > 0 || len(problems) != 1 || !errors.As(problems[0], &unreadable) || unreadable.Pool.Name != "default" {
			t.Errorf("%s: %v, %v", name, print(got), problems)
		}
	}
	if got, err := learned.Devices(withoutNodes(restart(fleet(gpus(1, "24Gi")...), good, 0))); len(got) != 1 || err != nil {
		t.Errorf("the good one: %v, %v", print(got), err)
	}
}

// An annotation is bounded: the types that were seen last are kept.
func TestAnnotationIsBounded(t *testing.T) {
	var many learned.Corrections
	for i := range 80 {
		var devices = gpus(100, "22Gi")
		for k := range devices { // nothing that packs well
			name := fmt.Sprintf("%x", uint64(i*1000+k+1)*0x9e3779b97f4a7c15)
			devices[k] = gpu("gpu-"+name, "22Gi", "productName="+name)
		}
		many = append(many, learned.Correction{Pool: v1.NewPoolKey("default"), InstanceType: fmt.Sprintf("type-%03d", i), Driver: driver, Nodes: []string{"a", "b"},
			Seen: start.Add(time.Duration(i) * time.Minute), Pools: []cloudprovider.DevicePool{{Driver: driver, Devices: devices}}})
	}
	text := many.Annotation(v1.NewPoolKey("default"))
	if len(text) == 0 || len(text) > learned.MaxAnnotationBytes {
		t.Fatalf("%d bytes", len(text))
	}
	s := fleet()
	s.NodePools[0].Object.Annotations = map[string]string{v1.LearnedDevicesAnnotationKey: text}
	got := learn(t, s)
	if len(got) == 0 || !slices.ContainsFunc(got, func(c learned.Correction) bool { return c.InstanceType == "type-079" }) {
		t.Errorf("%d are kept, the latest not among them", len(got))
	}
	if kept, err := learned.Kept(v1.NewPoolKey("default"), s.NodePools[0].Object); err != nil || len(kept) != len(got) || len(got.Since(kept)) > 0 || len(got.Since(kept[1:])) != 1 {
		t.Errorf("%d are kept, %d learned; %v", len(kept), len(got), err)
	}
	if text := many.Annotation(v1.NewPoolKey("other")); text != "" {
		t.Errorf("another pool gets %d bytes", len(text))
	}
}

// Whatever an annotation has: it is read, or a problem.
func FuzzAnnotation(f *testing.F) {
	s := fleet(gpus(1, "24Gi")...)
	join(s, "a", gpus(2, "22Gi", "productName=B")...)
	corrections, _ := learned.Devices(s)
	f.Add(corrections.Annotation(v1.NewPoolKey("default")))
	f.Add("H4sIAAAAAAAA/wAAAP//AQAA//8AAAAAAAAAAA==")
	f.Fuzz(func(t *testing.T, text string) {
		s := fleet(gpus(1, "24Gi")...)
		s.NodePools[0].Object.Annotations = map[string]string{v1.LearnedDevicesAnnotationKey: text}
		got, problems := learned.Devices(s)
		if len(got) > 0 && len(problems) > 0 {
			t.Error("what can't be read is learned from")
		}
		again, _ := learned.Devices(withoutNodes(restart(s, got, 0)))
		if diff := cmp.Diff(print(got), print(again)); diff != "" {
			t.Errorf("written and read again: %s", diff)
		}
	})
}
