package provisioning_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

func expires(text string) func(*v1.NodeClaim) {
	return func(c *v1.NodeClaim) { c.Spec.ExpireAfter, _ = v1.ParseNillableDuration(text) }
}

// PRV-081: what is collected, and what is not.
func TestCollectGarbage(t *testing.T) {
	instance := func(id, uid string, edit ...func(*v1.NodeClaim)) *v1.NodeClaim {
		m := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "m" + id, UID: types.UID(uid), CreationTimestamp: metav1.Time{Time: start}}}
		m.Status.ProviderID = id
		for _, e := range edit {
			e(m)
		}
		return m
	}
	going := func(m *v1.NodeClaim) { m.DeletionTimestamp = &metav1.Time{Time: start} }
	claims := []*v1.NodeClaim{testClaim(registeredAt(start))}
	for name, c := range map[string]struct {
		s    provisioning.GarbageState
		at   float64
		want string
	}{
		"PRV-081: all is well":                        {provisioning.GarbageState{Instances: []*v1.NodeClaim{instance("sim:///1", "claim-uid")}, Claims: claims}, 600, ""},
		"PRV-081: its instance is gone":               {provisioning.GarbageState{Claims: claims}, 600, "delete nodeclaim default-1 (garbage_collected)"},
		"PRV-081: its instance is ending":             {provisioning.GarbageState{Instances: []*v1.NodeClaim{instance("sim:///1", "claim-uid", going)}, Claims: claims}, 600, "delete nodeclaim default-1 (garbage_collected)"},
		"PRV-081: its node says otherwise":            {provisioning.GarbageState{Claims: claims, Nodes: []*corev1.Node{readyNode()}}, 600, ""},
		"PRV-081: not registered yet":                 {provisioning.GarbageState{Claims: []*v1.NodeClaim{testClaim(launchedAt(start))}}, 600, ""},
		"PRV-081: leaving already":                    {provisioning.GarbageState{Claims: []*v1.NodeClaim{testClaim(registeredAt(start), leaving)}}, 600, ""},
		"PRV-050: another provider's":                 {provisioning.GarbageState{Claims: claims, Supports: func(v1.NodeClassReference) bool { return false }}, 600, ""},
		"the list may lag":                            {provisioning.GarbageState{Claims: claims, Lag: time.Hour}, 600, ""},
		"an instance nobody asked for":                {provisioning.GarbageState{Instances: []*v1.NodeClaim{instance("sim:///9", "other")}}, 600, "terminate instance of msim:///9"},
		"one that is young":                           {provisioning.GarbageState{Instances: []*v1.NodeClaim{instance("sim:///9", "other")}}, 29, ""},
		"one whose claim has yet to hear of it":       {provisioning.GarbageState{Instances: []*v1.NodeClaim{instance("sim:///1", "claim-uid")}, Claims: []*v1.NodeClaim{testClaim()}}, 600, ""},
		"a node that joined while its instance ended": {provisioning.GarbageState{Nodes: []*corev1.Node{testJoined(func(n *corev1.Node) { n.Labels[v1.NodePoolLabelKey] = "default" })}}, 600, "delete node node-1"},
		"a node that is nobody's business":            {provisioning.GarbageState{Nodes: []*corev1.Node{testJoined()}}, 600, ""},
		"a ready node whose instance nobody knows of": {provisioning.GarbageState{Nodes: []*corev1.Node{readyNode(func(n *corev1.Node) { n.Labels[v1.NodePoolLabelKey] = "default" })}}, 600, ""},
	} {
		if got := strings.Join(collected(c.s, at(c.at)), ","); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// PRV-082: a node with less than nine tenths of what was promised.
func TestConsistency(t *testing.T) {
	claim := testClaim(registeredAt(start), func(c *v1.NodeClaim) {
		c.Conditions().SetTrue(v1.ConditionInitialized, start)
		c.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), "example.com/gpu": resource.MustParse("10"), corev1.ResourceMemory: resource.MustParse("8Gi")}
	})
	node := func(gpus string) []*corev1.Node {
		return []*corev1.Node{readyNode(func(n *corev1.Node) {
			n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), "example.com/gpu": resource.MustParse(gpus)}
		})}
	}
	step := provisioning.CheckConsistency(claim, node("9"), at(1))
	if !storedClaim(t, step).Conditions().IsTrue(v1.ConditionConsistentStateFound) || step.Again != 10*time.Minute {
		t.Errorf("nine tenths: %v", texts(step.Effects))
	}
	step = provisioning.CheckConsistency(claim, node("8"), at(1))
	got := storedClaim(t, step).Conditions().Get(v1.ConditionConsistentStateFound)
	if got.Status != "False" || got.Message != "expected 10 of resource example.com/gpu, but found 8 (80.0% of expected)" || step.Events[0].Reason != provisioning.EventFailedConsistencyCheck {
		t.Errorf("%+v", got)
	}
	for name, c := range map[string]*v1.NodeClaim{"not initialised": testClaim(registeredAt(start)), "leaving": testClaim(registeredAt(start), leaving)} {
		if step := provisioning.CheckConsistency(c, node("1"), at(1)); len(step.Effects) != 0 {
			t.Errorf("%s: %v", name, texts(step.Effects))
		}
	}
}

// PRV-110: four outcomes, two failures; a change or a restart.
func TestRegistrationHealth(t *testing.T) {
	pool := func(generation int64) *v1.NodePool {
		return &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", Generation: generation}}
	}
	for outcomes, want := range map[string]metav1.ConditionStatus{
		"": metav1.ConditionUnknown, "o": metav1.ConditionTrue, "x": metav1.ConditionTrue, "xx": metav1.ConditionFalse, "xox": metav1.ConditionFalse,
		"xxo": metav1.ConditionFalse, "xxoo": metav1.ConditionFalse, "xxooo": metav1.ConditionTrue, "xxoooo": metav1.ConditionTrue, "ooxx": metav1.ConditionFalse,
	} {
		h, p := provisioning.NewRegistrationHealth(), pool(1)
		for _, o := range outcomes {
			if o == 'o' {
				h.Registered(p)
			} else {
				h.GivenUp(p, "LaunchFailed", "no image")
			}
		}
		h.Update(p, start)
		got := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy)
		if got.Status != want || want == metav1.ConditionFalse && (got.Reason != "LaunchFailed" || h.Healthy(p)) {
			t.Errorf("PRV-110: %q gives %s %s", outcomes, got.Status, got.Reason)
		}
	}
	h, p := provisioning.NewRegistrationHealth(), pool(1)
	h.GivenUp(p, "", "")
	h.GivenUp(p, "", "")
	h.Update(p, start)
	if got := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy); got.Reason != "RegistrationFailed" {
		t.Errorf("reason %s", got.Reason)
	}
	restarted := provisioning.NewRegistrationHealth()
	if restarted.Healthy(p) {
		t.Error("PRV-110: two failures are forgotten by a restart")
	}
	p.Generation = 2
	h.Update(p, start)
	if got := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy); got.Status != metav1.ConditionUnknown {
		t.Errorf("PRV-110: after a change: %s", got.Status)
	}
	if !provisioning.NewRegistrationHealth().Healthy(p) {
		t.Error("PRV-110: a restart after a change remembers what was before it")
	}
}

// staticPool is ready and wants so many replicas.
func staticPool(replicas int64, options ...build.PoolOption) *v1.NodePool {
	fixed := build.PoolFunc(func(p *v1.NodePool) { p.Spec.Replicas = &replicas })
	return passPool("fixed", append([]build.PoolOption{fixed}, options...)...)
}

func staticClaim(name string, edit ...func(*v1.NodeClaim)) *v1.NodeClaim {
	c := testClaim(edit...)
	c.Name = name
	return c
}

// PRV-120, OPP-37: how many are launched.
func TestScaleStaticUp(t *testing.T) {
	limit := func(n string) build.PoolOption { return build.Limit("nodes", n) }
	one := provisioning.StaticClaim{Claim: staticClaim("a", launchedAt(start))}
	gone := provisioning.StaticClaim{Claim: staticClaim("b", leaving)}
	replaced := provisioning.StaticClaim{Claim: staticClaim("c", launchedAt(start)), Replaced: true}
	for name, c := range map[string]struct {
		s     provisioning.StaticState
		want  int
		short bool
		again time.Duration
	}{
		"PRV-120: all of them":              {provisioning.StaticState{Pool: staticPool(3)}, 3, false, time.Minute},
		"PRV-120: what is missing":          {provisioning.StaticState{Pool: staticPool(3), Claims: []provisioning.StaticClaim{one, gone}}, 2, false, time.Minute},
		"OPP-37: on order":                  {provisioning.StaticState{Pool: staticPool(3), Claims: []provisioning.StaticClaim{one}, Ordered: 2}, 0, false, time.Minute},
		"OPP-37: being replaced":            {provisioning.StaticState{Pool: staticPool(1), Claims: []provisioning.StaticClaim{replaced}, Ordered: 1}, 0, false, time.Minute},
		"PRV-120: limits.nodes counts all":  {provisioning.StaticState{Pool: staticPool(3, limit("3")), Claims: []provisioning.StaticClaim{one, gone}}, 1, true, 30 * time.Second},
		"PRV-120: limits.nodes is used up":  {provisioning.StaticState{Pool: staticPool(3, limit("1")), Claims: []provisioning.StaticClaim{one, gone}}, 0, true, 30 * time.Second},
		"PRV-120: not ready":                {provisioning.StaticState{Pool: staticPool(3, build.PoolFunc(func(p *v1.NodePool) { p.Status.Conditions = nil }))}, 0, false, time.Minute},
		"PRV-120: being deleted":            {provisioning.StaticState{Pool: staticPool(3, build.Deleted(start))}, 0, false, time.Minute},
		"a pool without replicas is not it": {provisioning.StaticState{Pool: passPool("dynamic")}, 0, false, 0},
	} {
		step, err := provisioning.ScaleStatic(c.s, nodeclaims.Options{}, start)
		if err != nil || len(step.Launches) != c.want || (step.Err != nil) != c.short || step.Again != c.again || len(step.Deletions) != 0 {
			t.Errorf("%s: %d launches, %v, again in %s, %v", name, len(step.Launches), step.Err, step.Again, err)
		}
	}
}

// PRV-121, PRV-122: who goes first.
func TestScaleStaticDown(t *testing.T) {
	busy := func(pods ...*corev1.Pod) []*corev1.Pod { return pods }
	s := provisioning.StaticState{Pool: staticPool(0), Claims: []provisioning.StaticClaim{
		{Claim: staticClaim("protected", launchedAt(start)), Pods: busy(drainPod("x", doNotDisrupt("true")))},
		{Claim: staticClaim("dear", launchedAt(start)), Pods: busy(drainPod("x"), drainPod("y"))},
		{Claim: staticClaim("cheap", launchedAt(start)), Pods: busy(drainPod("x"))},
		{Claim: staticClaim("old", launchedAt(start), expires("2h")), Pods: busy(drainPod("x"), drainPod("y"))},
		{Claim: staticClaim("daemons", launchedAt(start)), Pods: busy(drainPod("x", ofDaemonSet))},
		{Claim: staticClaim("unlaunched")},
		{Claim: staticClaim("going", leaving)},
	}}
	var order []string
	for want := 5; want >= 0; want-- {
		n := int64(want)
		s.Pool = staticPool(n)
		step, err := provisioning.ScaleStatic(s, nodeclaims.Options{}, start.Add(90*time.Minute))
		if err != nil || len(step.Deletions) != 6-want {
			t.Fatalf("%d replicas: %v %v", want, step, err)
		}
		order = append(order, step.Deletions[5-want].Name)
	}
	if got := fmt.Sprint(order); got != "[unlaunched daemons old cheap dear protected]" {
		t.Errorf("PRV-121: %s", got)
	}
}
