package provisioning_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// PRV-060, PRV-061: a claim that loses its node says so, is no room, and is given up when its time for registration is
// over, but not before a kubelet that restarts had time to join again.
func TestNodeLost(t *testing.T) {
	l := newLifecycle(t, provisioning.LifecycleOptions{LaunchTimeout: 5 * time.Minute, RegistrationTimeout: 10 * time.Minute})
	next := func(c *v1.NodeClaim, seconds float64, nodes ...*corev1.Node) provisioning.Step {
		return l.Next(provisioning.ClaimState{Claim: c, Nodes: nodes}, at(seconds))
	}
	step := next(testClaim(registeredAt(at(60))), 70)
	lost := storedClaim(t, step)
	registered, initialized := lost.Conditions().Get(v1.ConditionRegistered), lost.Conditions().Get(v1.ConditionInitialized)
	if registered.Status != metav1.ConditionUnknown || registered.Reason != provisioning.ReasonNodeLost || initialized.Reason != "NodeNotFound" ||
		lost.Status.NodeName != "" || !provisioning.NodeLost(lost) || step.Again != 530*time.Second {
		t.Errorf("%+v, %+v, node %q, again in %s", registered, initialized, lost.Status.NodeName, step.Again)
	}
	if !strings.Contains(registered.Message, "node-1") {
		t.Errorf("message %q does not name the node", registered.Message)
	}
	if step := next(lost, 80); len(step.Effects) != 0 || step.Again != 520*time.Second {
		t.Errorf("while it waits: %v, again in %s", texts(step.Effects), step.Again)
	}
	if got := texts(next(lost, 600).Effects); len(got) != 1 || got[0] != "delete nodeclaim default-1 (registration_timeout)" {
		t.Errorf("after its time: %v", got)
	}

	late := storedClaim(t, next(testClaim(registeredAt(at(590))), 595))
	if got := texts(next(late, 600).Effects); len(got) != 0 {
		t.Errorf("five seconds after it was lost: %v", got)
	}
	if got := texts(next(late, 894).Effects); len(got) != 0 {
		t.Errorf("before five minutes are over: %v", got)
	}
	if got := texts(next(late, 895).Effects); len(got) != 1 {
		t.Errorf("five minutes after it was lost: %v", got)
	}

	back := storedClaim(t, next(lost, 90, testJoined()))
	if !back.Conditions().IsTrue(v1.ConditionRegistered) || back.Status.NodeName != "node-1" || provisioning.NodeLost(back) {
		t.Errorf("when the node is back: %+v", back.Status)
	}
	done := testClaim(registeredAt(start), func(c *v1.NodeClaim) { c.Conditions().SetTrue(v1.ConditionInitialized, start) })
	if provisioning.NodeLost(testClaim()) || provisioning.NodeLost(done) || len(next(done, 70, readyNode()).Effects) != 0 {
		t.Error("a claim that never had a node, or one that has, has lost it")
	}
	if again := storedClaim(t, next(done, 70)); !provisioning.NodeLost(again) || again.Conditions().IsTrue(v1.ConditionInitialized) {
		t.Errorf("an initialised claim without its node: %+v", again.Status.Conditions)
	}
}

// PRV-051: the instance of a claim that went while the provider was asked is terminated by who knows of it.
func TestCreatedForAClaimThatIsGone(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	answer := &v1.NodeClaim{}
	answer.Status.ProviderID = "sim:///1"
	effects := l.Created(testClaim(), answer, nil, at(1)).Effects
	put, ok := effects[0].(provisioning.PutClaim)
	if !ok || len(effects) != 1 || len(put.IfGone) != 1 {
		t.Fatalf("%v", texts(effects))
	}
	end, ok := put.IfGone[0].(provisioning.TerminateInstance)
	if !ok || end.Claim.Status.ProviderID != "sim:///1" || end.Claim.UID != "claim-uid" {
		t.Errorf("if it is gone: %v", texts(put.IfGone))
	}
	for _, each := range l.Created(testClaim(), nil, errors.New("no"), at(1)).Effects {
		if put, ok := each.(provisioning.PutClaim); ok && put.IfGone != nil {
			t.Error("nothing was created, and something is to end")
		}
	}
}

// PRV-065: the instance of a claim whose finalizer is taken away by hand, while it is being ended, is terminated all the same.
func TestTerminateAClaimThatIsGone(t *testing.T) {
	step := provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: testClaim(launchedAt(start), leaving)}, at(1))
	if got := strings.Join(texts(step.Effects), ","); got != "put nodeclaim default-1,terminate instance of default-1" {
		t.Fatal(got)
	}
	if got := texts(step.Effects[0].(provisioning.PutClaim).IfGone); len(got) != 1 || got[0] != "terminate instance of default-1" {
		t.Errorf("if it is gone: %v", got)
	}
	found := provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: testClaim(leaving), Searched: true, Found: "sim:///1"}, at(1))
	if got := found.Effects[0].(provisioning.PutClaim).IfGone; len(got) != 1 || got[0].(provisioning.TerminateInstance).Claim.Status.ProviderID != "sim:///1" {
		t.Errorf("an instance that was found: %v", texts(got))
	}
}

// PRV-050, PRV-061, PRV-065, PRV-081: whatever vanishes at whatever step, no claim stays that has no node, no instance that has no claim, and
// when the claims are deleted nothing is left.
func TestVanishAtEveryStep(t *testing.T) {
	first := func(w *world) *v1.NodeClaim {
		if names := slices.Sorted(maps.Keys(w.claims)); len(names) > 0 {
			return w.claims[names[0]]
		}
		return nil
	}
	for kind, vanish := range map[string]func(*world){
		"claim": func(w *world) {
			if c := first(w); c != nil {
				delete(w.claims, c.Name)
			}
		},
		"node": func(w *world) {
			if c := first(w); c != nil {
				for _, n := range w.nodesOf(c) {
					delete(w.nodes, n.Name)
				}
			}
		},
		"instance": func(w *world) {
			if c := first(w); c != nil && c.Status.ProviderID != "" {
				_ = w.cloud.Delete(context.Background(), c)
				w.clock.Advance(10 * time.Second)
				w.cloud.Settle()
			}
		},
	} {
		t.Run(kind, func(t *testing.T) {
			for at := 0; ; at++ {
				w := newWorld(t, -1, false)
				w.vanish, w.vanishAt = vanish, at
				w.order("a")
				w.order("b")
				// 15 minutes for registration, and what the collector needs.
				w.settle(1200, fmt.Sprintf("all that is left is up after the %s vanished at effect %d", kind, at), func() bool {
					return w.up() && len(w.cloud.Instances()) == len(w.claims) && len(w.nodes) == len(w.claims)
				})
				for _, c := range slices.Collect(maps.Values(w.claims)) {
					if len(w.nodesOf(c)) != 1 {
						t.Fatalf("%s at effect %d: claim %s is initialised and has no node", kind, at, c.Name)
					}
					w.deleteClaim(c.Name)
				}
				w.settle(600, fmt.Sprintf("nothing left after the %s vanished at effect %d", kind, at), w.empty)
				if !w.vanished {
					if at < 20 {
						t.Fatalf("the story has %d effects, too few to say anything", at)
					}
					break
				}
			}
		})
	}
}

// A claim that vanishes while its instance is launched costs nothing: it is terminated at once, without the collector.
func TestClaimVanishesWhileLaunching(t *testing.T) {
	w := newWorld(t, -1, false)
	w.order("a")
	w.round() // the finalizer, launch and answer, if nothing vanishes
	put := slices.Index(w.log, "create instance of a") + 1
	if put == 0 {
		t.Fatalf("%v", w.log)
	}
	w = newWorld(t, -1, false)
	w.vanish, w.vanishAt = func(w *world) { delete(w.claims, "a") }, put
	w.order("a")
	for range 20 {
		w.round()
	}
	if n := len(w.cloud.Instances()); n != 0 || !w.vanished || len(w.garbage) != 0 {
		t.Errorf("%d instances are left, %v, collected %v", n, w.log, w.garbage)
	}
}

// PRV-066: a node without a claim whose instance is gone does not wait for pods that nobody runs any more.
func TestTerminateNodeWithoutClaimAndInstance(t *testing.T) {
	node := testJoined(func(n *corev1.Node) {
		n.Finalizers = []string{v1.TerminationFinalizer}
		n.DeletionTimestamp = &metav1.Time{Time: start}
	})
	s := provisioning.NodeTermination{Node: node, Pods: []*corev1.Pod{drainPod("x")}}
	asked := provisioning.TerminateNode(s, at(1)).Effects
	if len(asked) != 1 || asked[0].(provisioning.AskInstance).Claim.Status.ProviderID != "sim:///1" {
		t.Fatalf("%v", texts(asked))
	}
	s.Instance = provisioning.InstanceGone
	if got := storedNode(t, provisioning.TerminateNode(s, at(1))); len(got.Finalizers) != 0 {
		t.Errorf("its instance is gone: %v", got.Finalizers)
	}
	s.Instance = provisioning.InstanceThere
	if got := storedNode(t, provisioning.TerminateNode(s, at(1))); len(got.Finalizers) != 1 {
		t.Error("its instance is there, and it is not drained")
	}
}
