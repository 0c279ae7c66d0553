package reconcilers

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
)

// PRV-030: what calls for a pass, and what no longer does.
func TestTriggers(t *testing.T) {
	waiting := newPod("a")
	waiting.UID = "pod"
	bound := waiting.DeepCopy()
	bound.Spec.NodeName = "n"
	node := &corev1.Node{}
	node.UID = "node"
	tainted := node.DeepCopy()
	tainted.Spec.Taints = []corev1.Taint{v1.DisruptedTaint()}
	cordoned, others := node.DeepCopy(), node.DeepCopy()
	v1.MarkerCordon.Mark(cordoned)
	others.Spec.Unschedulable = true
	claim := build.Claim("c")
	claim.UID = "claim"
	leaving := claim.DeepCopy()
	leaving.DeletionTimestamp = &claim.CreationTimestamp
	pool := build.Pool("p")
	pool.UID = "pool"
	isReady := pool.DeepCopy()
	isReady.Conditions().SetTrue(v1.ConditionValidationSucceeded, time.Unix(0, 0))
	isReady.Conditions().SetTrue(v1.ConditionNodeClassReady, time.Unix(0, 0))
	changed := isReady.DeepCopy()
	changed.Generation++

	for name, c := range map[string]struct {
		seen func(*planner)
		want types.UID // none if empty
	}{
		"a pod that waits":                        {func(p *planner) { p.seen(nil, waiting) }, "pod"},
		"a pod that waits on":                     {func(p *planner) { p.seen(waiting, waiting) }, ""},
		"a bound pod":                             {func(p *planner) { p.seen(nil, bound) }, ""},
		"a pod that waited is bound":              {func(p *planner) { p.seen(nil, waiting); p.seen(waiting, bound) }, ""},
		"a pod that waited is gone":               {func(p *planner) { p.seen(nil, waiting); p.seen(waiting, nil) }, ""},
		"a pod that was refused is to be planned": {func(p *planner) { p.seen(bound, waiting) }, "pod"},
		"a node":                                {func(p *planner) { p.seen(nil, node) }, ""},
		"a node is disrupted":                   {func(p *planner) { p.seen(node, tainted) }, "node"},
		"API-247: a node is cordoned":           {func(p *planner) { p.seen(node, cordoned) }, "node"},
		"a node is cordoned by somebody":        {func(p *planner) { p.seen(node, others) }, ""},
		"a disrupted node, as a process begins": {func(p *planner) { p.seen(nil, tainted) }, "node"},
		"a disrupted node changes":              {func(p *planner) { p.seen(tainted, tainted) }, ""},
		"a claim":                               {func(p *planner) { p.seen(nil, claim) }, ""},
		"a claim is deleted":                    {func(p *planner) { p.seen(claim, leaving) }, "claim"},
		"a pool":                                {func(p *planner) { p.seen(nil, pool) }, "pool"},
		"a pool's status changes":               {func(p *planner) { p.seen(pool, pool) }, ""},
		"a pool becomes ready":                  {func(p *planner) { p.seen(pool, isReady) }, "pool"},
		"a pool's spec changes":                 {func(p *planner) { p.seen(isReady, changed) }, "pool"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &planner{triggers: newTriggers()}
			p.triggers.standby = false
			c.seen(p)
			var got types.UID
			for uid := range p.triggers.added {
				got = uid
			}
			if got != c.want || len(p.triggers.added) > 1 {
				t.Errorf("calls: %v, want %q", p.triggers.added, c.want)
			}
		})
	}
}

// PRV-032, PRV-033: what was gathered reaches the batch, and one that left is waited for no more.
func TestTriggersReachTheBatch(t *testing.T) {
	batch, err := provisioning.NewBatch(provisioning.DefaultBatchOptions())
	if err != nil {
		t.Fatal(err)
	}
	list, now := newTriggers(), time.Unix(0, 0)
	list.standby = false
	list.add("a")
	list.add("b")
	list.drain(batch, now)
	list.forget("a")
	list.forget("c")
	list.drain(batch, now)
	if n := batch.Waiting(); n != 1 {
		t.Errorf("%d wait, want b alone", n)
	}
	list.forget("b")
	list.add("b") // it waits again
	list.drain(batch, now)
	if n := batch.Waiting(); n != 1 {
		t.Errorf("%d wait, want b", n)
	}
	select {
	case <-list.wake:
	default:
		t.Error("nobody was woken")
	}
}

// TestTriggersOnStandby has a process that does not lead keep nothing of what comes and goes, and plan once for all when it begins.
func TestTriggersOnStandby(t *testing.T) {
	list := newTriggers()
	list.add("waits")
	list.add("gone")
	list.forget("gone")
	if len(list.added)+len(list.removed) > 0 {
		t.Errorf("a standby keeps %v and %v", list.added, list.removed)
	}
	list.begin()
	list.add("b")
	if len(list.added) != 2 || !list.added[startTrigger] || !list.added["b"] {
		t.Errorf("a process that begins to lead has %v", list.added)
	}
}

// PRV-030 to PRV-033, PRV-035, PRV-043: from a pod that waits to a claim, by the planner's own loop.
func TestPlannerLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.planner.triggers.standby = true // as in a process until it leads
		w.running(w.planner.Start)
		time.Sleep(2 * time.Second)
		w.create(newPod("a"))
		w.watch()
		time.Sleep(500 * time.Millisecond)
		w.create(newPod("b"))
		w.watch()
		time.Sleep(700 * time.Millisecond)
		synctest.Wait()
		if n := len(w.allClaims()); n != 0 {
			t.Fatalf("%d claims while the window of a batch is open", n)
		}
		time.Sleep(400 * time.Millisecond)
		synctest.Wait()
		if n := len(w.allClaims()); n != 1 {
			t.Fatalf("%d claims, want one for both pods", n)
		}
		if n := len(w.events("Nominated Pod/")); n != 2 {
			t.Errorf("events: %q", w.told)
		}
		time.Sleep(time.Minute) // nobody binds them, and the view has the claim before any watch shows it
		synctest.Wait()
		if n := len(w.allClaims()); n != 1 {
			t.Errorf("%d claims after a minute", n)
		}
	})
}
