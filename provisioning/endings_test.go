package provisioning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// DIS-239, DIS-246: whatever deletes a claim with a terminationGracePeriod, its deadline is written on it first, told of in a
// warning, and never moved; a period of 0 is over at once.
func TestDeadlineOfClaims(t *testing.T) {
	const key = v1.NodeClaimTerminationTimestampAnnotationKey
	for name, c := range map[string]struct {
		edit []func(*v1.NodeClaim)
		want string
	}{
		"DIS-239 deletion and period":      {[]func(*v1.NodeClaim){within(time.Hour)}, "2026-05-04T13:00:00Z"},
		"DIS-246 no time at all":           {[]func(*v1.NodeClaim){within(0)}, "2026-05-04T12:00:00Z"},
		"DIS-239 one that is there stays":  {[]func(*v1.NodeClaim){within(time.Hour), func(c *v1.NodeClaim) { c.Annotations[key] = "2026-05-04T12:30:00Z" }}, ""},
		"DIS-016 without a period is none": {nil, ""},
	} {
		claim := testClaim(append([]func(*v1.NodeClaim){registeredAt(start), leaving}, c.edit...)...)
		step := provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Nodes: []*corev1.Node{readyNode()}}, at(1))
		if c.want == "" {
			if len(step.Events) != 0 || texts(step.Effects)[0] != "delete node node-1" {
				t.Errorf("%s: %v, %v", name, texts(step.Effects), step.Events)
			}
			continue
		}
		if got := storedClaim(t, step).Annotations[key]; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if len(step.Events) != 1 || !step.Events[0].Warning || step.Events[0].Reason != "TerminationGracePeriodExpiring" {
			t.Errorf("%s: events %+v", name, step.Events)
		}
	}
	d := provisioning.DrainNode([]*corev1.Pod{drainPod("a")}, start, start)
	if diff := cmp.Diff([]string{"delete pod default/a"}, texts(d.Effects)); diff != "" {
		t.Errorf("DIS-246: a deadline that is now (-want +got):\n%s", diff)
	}
}

// DIS-241 to DIS-244; DIS-319 scenario 17: a deadline in ten minutes and a budget that never gives in: each pod is deleted when
// less than its grace period is left, with what is left, whatever protects it.
func TestDeadlineOfPods(t *testing.T) {
	deadline := at(600)
	// first is when the pod is first deleted, stepping through the seconds, and the grace period that it gets.
	first := func(pod *corev1.Pod) (float64, time.Duration) {
		for second := 0.0; second < 1000; second++ {
			for _, e := range provisioning.DrainNode([]*corev1.Pod{pod}, deadline, at(second)).Effects {
				if del, ok := e.(provisioning.DeletePod); ok {
					return second, del.Grace
				}
			}
		}
		return -1, 0
	}
	for name, c := range map[string]struct {
		pod   *corev1.Pod
		when  float64
		grace time.Duration
	}{
		"DIS-319 scenario 17: five minutes of grace after five":       {drainPod("a", grace(300)), 301, 299 * time.Second},
		"DIS-319 scenario 17: twenty minutes of grace at once":        {drainPod("a", grace(1200)), 0, 600 * time.Second},
		"DIS-241 do-not-disrupt does not help":                        {drainPod("a", grace(300), doNotDisrupt("true")), 301, 299 * time.Second},
		"DIS-241, DIS-253: nor does its turn":                         {drainPod("a", grace(300), critical), 301, 299 * time.Second},
		"DIS-242 never nothing":                                       {drainPod("a", grace(0)), 601, time.Second},
		"DIS-243 one that goes too late is hurried":                   {drainPod("a", terminating(at(601))), 0, 600 * time.Second},
		"DIS-243 one that goes in time is not":                        {drainPod("a", terminating(at(600))), -1, 0},
		"DIS-244 without a grace period it is never deleted by force": {drainPod("a", noGrace), -1, 0},
	} {
		if when, given := first(c.pod); when != c.when || given != c.grace {
			t.Errorf("%s: after %g s with %s, want %g s and %s", name, when, given, c.when, c.grace)
		}
	}
}

// DIS-253, DIS-254: groups in their order, each when nobody of the earlier is there any more; a deadline knows no groups.
func TestGroupsOfADrain(t *testing.T) {
	order := []*corev1.Pod{drainPod("1-plain"), drainPod("2-daemon", ofDaemonSet), drainPod("3-critical", critical), drainPod("4-both", critical, ofDaemonSet)}
	stays := []*corev1.Pod{
		drainPod("mirror", func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n"}}
		}),
		drainPod("tolerant", tolerates), drainPod("over", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
	}
	for i := range order {
		d := provisioning.DrainNode(append(slices.Clone(order[i:]), stays...), time.Time{}, start)
		if diff := cmp.Diff([]string{"evict pod default/" + order[i].Name}, texts(d.Effects)); diff != "" || d.Waiting != 4-i {
			t.Errorf("%d waiting (-want +got):\n%s", d.Waiting, diff)
		}
	}
	going := order[0].DeepCopy()
	terminating(at(20))(going)
	if d := provisioning.DrainNode(append([]*corev1.Pod{going}, order[1:]...), time.Time{}, start); len(d.Effects) != 0 {
		t.Errorf("DIS-253: while one of an earlier group is going: %v", texts(d.Effects))
	}
	if d := provisioning.DrainNode(stays, time.Time{}, start); d.Waiting != 0 || len(d.Effects) != 0 {
		t.Errorf("DIS-254: %d waiting, %v", d.Waiting, texts(d.Effects))
	}
	if d := provisioning.DrainNode(order, at(10), start); len(d.Effects) != 4 {
		t.Errorf("DIS-253: past their time all are queued: %v", texts(d.Effects))
	}
}

// API-444, DIS-024, DIS-245, DIS-248 to DIS-252, DIS-255, DIS-256, DIS-260, DIS-261: the whole end of a node and of its claim, second by
// second: whatever deleted either of them.
func TestEndOfANode(t *testing.T) {
	for _, deletedFirst := range []string{"claim", "node"} {
		w := newWorld(t, -1, false)
		w.order("a")
		w.settle(60, "a node that is up", w.up)
		var name string
		for name = range w.nodes {
		}
		pod := drainPod("p")
		pod.Spec.NodeName = name
		w.pods[types.NamespacedName{Namespace: "default", Name: "p"}] = pod
		w.log = nil
		if deletedFirst == "claim" {
			w.deleteClaim("a")
		} else if _, err := w.carryOut(provisioning.DeleteNode{Name: name}); err != nil {
			t.Fatal(err)
		}
		w.settle(120, "nothing left", w.empty)
		var order []string
		for _, line := range w.log {
			if !strings.HasPrefix(line, "put ") && !strings.HasPrefix(line, "ask ") && !slices.Contains(order, line) {
				order = append(order, line)
			}
		}
		want := []string{"delete node " + name, "evict pod default/p", "terminate instance of a"}
		if deletedFirst == "node" {
			want[0] = "delete nodeclaim a ()"
		}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("the %s was deleted (-want +got):\n%s", deletedFirst, diff)
		}
	}
	claim := func(edit ...func(*v1.NodeClaim)) []*v1.NodeClaim {
		return []*v1.NodeClaim{testClaim(append([]func(*v1.NodeClaim){registeredAt(start), leaving}, edit...)...)}
	}
	effects := func(s provisioning.NodeTermination, after float64) string {
		return strings.Join(texts(provisioning.TerminateNode(s, at(after)).Effects), ",")
	}
	silent := func(n *corev1.Node) { n.Status.Conditions = nil }
	dead := provisioning.NodeTermination{Node: goingNode(silent), Claims: claim(), Pods: []*corev1.Pod{drainPod("a")}, Instance: provisioning.InstanceGone}
	if got := effects(dead, 1); got != "put node node-1" {
		t.Errorf("DIS-250: not ready, and its instance is gone: %q, want no drain", got)
	}
	dead.Node = goingNode()
	if n := storedNode(t, provisioning.TerminateNode(dead, at(1))); len(n.Finalizers) == 0 || n.Spec.Taints[len(n.Spec.Taints)-1] != v1.DisruptedTaint() || n.Labels[v1.ExcludeBalancersLabelKey] != "karpenter" {
		t.Errorf("DIS-250, DIS-251: ready, so that the provider's word is not taken: finalizers %v, taints %v", n.Finalizers, n.Spec.Taints)
	}
	other := goingNode(func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: v1.DisruptedTaintKey, Effect: corev1.TaintEffectNoExecute}}
	})
	if n := storedNode(t, provisioning.TerminateNode(provisioning.NodeTermination{Node: other, Claims: claim()}, at(1))); len(n.Spec.Taints) != 1 || n.Spec.Taints[0].Effect != corev1.TaintEffectNoSchedule {
		t.Errorf("DIS-251: a taint of another effect is replaced: %v", n.Spec.Taints)
	}
	alone := provisioning.NodeTermination{Node: goingNode(closed), DrainingSince: start, Instance: provisioning.InstanceUnasked}
	if got := effects(alone, 60); got != "put node node-1" {
		t.Errorf("DIS-249: without a claim: %q, want its instance left alone", got)
	}
	young := provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(draining)}
	if step := provisioning.TerminateNode(young, at(4.9)); len(step.Effects) != 0 || step.Again != time.Second {
		t.Errorf("DIS-252, DIS-255: after 4.9 s %v, again in %s", texts(step.Effects), step.Again)
	}
	if c := storedClaim(t, provisioning.TerminateNode(young, at(5))); !c.Conditions().IsTrue(v1.ConditionDrained) {
		t.Error("DIS-255, DIS-256: not drained after five seconds")
	}
	attached := provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(drained), Attachments: []*storagev1.VolumeAttachment{attachment("x", "pv")}}
	if c := storedClaim(t, provisioning.TerminateNode(attached, at(6))).Conditions().Get(v1.ConditionVolumesDetached); c.Status != metav1.ConditionUnknown || c.Reason != "AwaitingVolumeDetachment" {
		t.Errorf("DIS-256: while a volume is attached: %+v", c)
	}
	nameless := attachment("y", "")
	nameless.Spec.Source.PersistentVolumeName = nil
	attached.Attachments = []*storagev1.VolumeAttachment{nameless}
	if c := storedClaim(t, provisioning.TerminateNode(attached, at(6))); !c.Conditions().IsTrue(v1.ConditionVolumesDetached) {
		t.Error("DIS-260: one without a volume's name holds the node")
	}
	attached.Attachments = []*storagev1.VolumeAttachment{attachment("x", "pv")}
	attached.Pods, attached.VolumesOf = []*corev1.Pod{drainPod("s", tolerates)}, map[string][]string{"uid-s": {"pv"}}
	if c := storedClaim(t, provisioning.TerminateNode(attached, at(6))); !c.Conditions().IsTrue(v1.ConditionVolumesDetached) {
		t.Error("DIS-260: the volume of a pod that stays holds the node")
	}
	late := provisioning.NodeTermination{Node: goingNode(closed), Attachments: []*storagev1.VolumeAttachment{attachment("x", "pv")}, Claims: claim(drained, within(time.Minute), func(c *v1.NodeClaim) {
		c.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = at(60).Format(time.RFC3339)
	})}
	if c := storedClaim(t, provisioning.TerminateNode(late, at(61))).Conditions().Get(v1.ConditionVolumesDetached); c.Status != metav1.ConditionFalse || c.Reason != "TerminationGracePeriodElapsed" {
		t.Errorf("DIS-245, DIS-256: past the deadline: %+v", c)
	}
	asked := func(c *v1.NodeClaim) { c.Conditions().SetTrue(v1.ConditionInstanceTerminating, at(1)) }
	ending := provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(drained, detached, asked), Instance: provisioning.InstanceEnding}
	if step := provisioning.TerminateNode(ending, at(9)); len(step.Effects) != 0 || step.Again != 5*time.Second {
		t.Errorf("DIS-252, DIS-261: while the instance ends: %v, again in %s", texts(step.Effects), step.Again)
	}
	ending.Instance = provisioning.InstanceGone
	if n := storedNode(t, provisioning.TerminateNode(ending, at(9))); len(n.Finalizers) != 0 {
		t.Errorf("DIS-261: finalizers %v", n.Finalizers)
	}
}

// DIS-257 to DIS-259: what an answer of the eviction API does to a pod's turn, protection, and pods of one name.
func TestTurnsOfEvictions(t *testing.T) {
	q := provisioning.NewEvictionQueue()
	target := provisioning.EvictPod{Key: types.NamespacedName{Namespace: "x", Name: "a"}, UID: "1", Deadline: at(100), Why: "Drifted"}
	again := target
	again.UID, again.Deadline = "2", time.Time{}
	q.Add(target, start)
	q.Add(again, start)
	for outcome, wait := range map[provisioning.EvictionOutcome]time.Duration{provisioning.EvictionRefused: 100 * time.Millisecond, provisioning.EvictionFailed: 100 * time.Millisecond} {
		q := provisioning.NewEvictionQueue()
		q.Add(target, start)
		q.Next(start)
		q.Report(target, outcome, start)
		if _, _, ok, after := q.Next(start); ok || after != wait {
			t.Errorf("DIS-257: outcome %d: again in %s, want %s", outcome, after, wait)
		}
	}
	got, _, _, _ := q.Next(start)
	if got != target {
		t.Errorf("DIS-259: handed out %+v, want %+v", got, target)
	}
	q.Report(got, provisioning.EvictionDone, start)
	if next, _, ok, _ := q.Next(start); !ok || next.UID != "2" || q.Len() != 1 {
		t.Errorf("DIS-257, DIS-259: one that is done takes the other of its name with it: %+v", next)
	}
	// A protected pod is looked at again when its protection ends, and evicted then.
	pod := drainPod("p", doNotDisrupt("90s"))
	if d := provisioning.DrainNode([]*corev1.Pod{pod}, time.Time{}, at(89)); len(d.Effects) != 0 || d.Again != time.Second {
		t.Errorf("DIS-258: %v, again in %s", texts(d.Effects), d.Again)
	}
	if d := provisioning.DrainNode([]*corev1.Pod{pod}, time.Time{}, at(90)); len(d.Effects) != 1 {
		t.Error("DIS-258: its protection has ended, and it stays")
	}
}

// API-405, DIS-263: drains of several nodes go on side by side: what one asks for does not wait for another, also under one budget.
func TestDrainsSideBySide(t *testing.T) {
	q := provisioning.NewEvictionQueue()
	for node := range 3 {
		for _, e := range provisioning.DrainNode([]*corev1.Pod{drainPod(fmt.Sprint(node))}, time.Time{}, start).Effects {
			q.Add(e.(provisioning.EvictPod), start)
		}
	}
	for range 3 {
		if _, _, ok, _ := q.Next(start); !ok {
			t.Error("a drain waits for another")
		}
	}
}

// DIS-282: pods hear why they go: the reason of the command, or that none was behind it.
func TestEvictionReason(t *testing.T) {
	disrupted := func(status metav1.ConditionStatus) func(*v1.NodeClaim) {
		return func(c *v1.NodeClaim) {
			c.Conditions().Set(v1.ConditionDisruptionReason, status, "Underutilized", "x", start)
		}
	}
	for want, claims := range map[string][]*v1.NodeClaim{
		"Underutilized":        {testClaim(registeredAt(start), leaving, draining, disrupted("True"))},
		"Forceful Termination": {testClaim(registeredAt(start), leaving, draining, disrupted("False"))},
	} {
		s := provisioning.NodeTermination{Node: goingNode(closed), Claims: claims, Pods: []*corev1.Pod{drainPod("a")}}
		if e := provisioning.TerminateNode(s, at(10)).Effects[0].(provisioning.EvictPod); e.Why != want {
			t.Errorf("%q, want %q", e.Why, want)
		}
	}
	late := testClaim(registeredAt(start), leaving, draining, within(0), func(c *v1.NodeClaim) {
		c.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = start.Format(time.RFC3339)
	})
	s := provisioning.NodeTermination{Node: goingNode(closed), Claims: []*v1.NodeClaim{late}, Pods: []*corev1.Pod{drainPod("a")}}
	if e := provisioning.TerminateNode(s, at(10)).Effects[0].(provisioning.DeletePod); e.Why != provisioning.ForcefulTermination {
		t.Errorf("%q", e.Why)
	}
	if got := provisioning.EvictionReason(nil); got != provisioning.ForcefulTermination {
		t.Errorf("without a claim %q", got)
	}
}

// DIS-067: which pod events count, and how often they are stored: more often than a command waits for its validation.
func TestPodEventsOfDisruption(t *testing.T) {
	bound := drainPod("p", func(p *corev1.Pod) { p.Spec.NodeName = "n" })
	waiting, ended, going := drainPod("p"), bound.DeepCopy(), bound.DeepCopy()
	ended.Status.Phase = corev1.PodSucceeded
	terminating(at(30))(going)
	daemon := bound.DeepCopy()
	ofDaemonSet(daemon)
	for name, c := range map[string]struct {
		before, after *corev1.Pod
		want          bool
	}{
		"bound": {waiting, bound, true}, "over": {bound, ended, true}, "going": {bound, going, true},
		"nothing": {bound, bound.DeepCopy(), false}, "a DaemonSet's": {nil, daemon, false},
	} {
		if got := provisioning.IsPodEvent(c.before, c.after); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	claim := testClaim()
	claim, _ = provisioning.NotePodEvent(claim, start, start)
	if changed, again := provisioning.NotePodEvent(claim, at(9), at(9)); changed != nil || again != time.Second || provisioning.PodEventEvery >= 15*time.Second {
		t.Errorf("after nine seconds: %v, again in %s", changed, again)
	}
	if changed, _ := provisioning.NotePodEvent(claim, at(10), at(10)); changed == nil {
		t.Error("after ten seconds it is not stored")
	}
}

// DIS-275: a registered claim whose instance is gone is collected every two minutes, unless its node is ready.
func TestLostInstances(t *testing.T) {
	claim := testClaim(registeredAt(start))
	state := provisioning.GarbageState{Claims: []*v1.NodeClaim{claim}}
	if diff := cmp.Diff([]string{"delete nodeclaim default-1 (garbage_collected)"}, collected(state, at(3600))); diff != "" || provisioning.GarbageEvery != 2*time.Minute {
		t.Errorf("every %s (-want +got):\n%s", provisioning.GarbageEvery, diff)
	}
	state.Nodes = []*corev1.Node{readyNode()}
	if got := collected(state, at(3600)); len(got) != 0 {
		t.Errorf("its node is ready: %v", got)
	}
	state.Nodes, state.Claims = nil, []*v1.NodeClaim{testClaim(func(c *v1.NodeClaim) { c.Status.ProviderID = "sim:///1" })}
	if got := collected(state, at(3600)); len(got) != 0 {
		t.Errorf("one that is not registered: %v", got)
	}
}

// DIS-276: launch and registration have their time from the claim's creation on.
func TestTimesOfALaunch(t *testing.T) {
	l := newLifecycle(t, provisioning.DefaultLifecycleOptions())
	launched := func(c *v1.NodeClaim) {
		c.Status.ProviderID = "sim:///1"
		c.Conditions().SetTrue(v1.ConditionLaunched, at(200))
	}
	for name, c := range map[string]struct {
		claim *v1.NodeClaim
		after float64
		want  string
	}{
		"not launched, in time":   {testClaim(), 299, ""},
		"not launched":            {testClaim(), 300, "delete nodeclaim default-1 (launch_timeout)"},
		"not registered, in time": {testClaim(launched), 899, ""},
		"not registered":          {testClaim(launched), 900, "delete nodeclaim default-1 (registration_timeout)"},
	} {
		got := ""
		for _, line := range texts(l.Next(provisioning.ClaimState{Claim: c.claim}, at(c.after)).Effects) {
			if strings.HasPrefix(line, "delete") {
				got = line
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// DIS-188, DIS-277: a static pool gives back those that cost least, whatever budgets say; a node that a command is about to
// replace is neither launched for a second time nor given back.
func TestStaticPoolGivesBack(t *testing.T) {
	claim := func(name string, edit ...func(*v1.NodeClaim)) *v1.NodeClaim {
		c := testClaim(append([]func(*v1.NodeClaim){registeredAt(start)}, edit...)...)
		c.Name, c.UID = name, types.UID(name)
		return c
	}
	all := []provisioning.StaticClaim{
		{Claim: claim("protected"), Pods: []*corev1.Pod{drainPod("p", doNotDisrupt("true"))}},
		{Claim: claim("dear"), Pods: []*corev1.Pod{drainPod("p"), drainPod("q")}},
		{Claim: claim("cheap"), Pods: []*corev1.Pod{drainPod("p")}},
		{Claim: claim("daemons"), Pods: []*corev1.Pod{drainPod("p", ofDaemonSet)}},
		{Claim: claim("unlaunched", func(c *v1.NodeClaim) { c.Status.ProviderID = "" })},
	}
	pool := staticPool(0)
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
	step, err := provisioning.ScaleStatic(provisioning.StaticState{Pool: pool, Claims: all}, nodeclaims.Options{}, at(60))
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, d := range step.Deletions {
		order = append(order, d.Name)
	}
	if diff := cmp.Diff([]string{"unlaunched", "daemons", "cheap", "dear", "protected"}, order); diff != "" || step.Again != time.Minute {
		t.Errorf("again in %s (-want +got):\n%s", step.Again, diff)
	}
	two := []provisioning.StaticClaim{{Claim: claim("old"), Replaced: true}, {Claim: claim("new")}, {Claim: claim("other")}}
	step, err = provisioning.ScaleStatic(provisioning.StaticState{Pool: staticPool(2), Claims: two}, nodeclaims.Options{}, at(60))
	if err != nil || len(step.Launches)+len(step.Deletions) != 0 {
		t.Errorf("DIS-188: %d launched, %d given back, %v; want none while one is being replaced", len(step.Launches), len(step.Deletions), err)
	}
}

// API-405, API-411, DIS-015, DIS-016, DIS-278: a claim takes its times from the pool's template, and goes with its pool: the pool owns it, and the
// end of the pool waits for it.
func TestClaimsBelongToTheirPool(t *testing.T) {
	pool := staticPool(1)
	pool.UID = "pool"
	grace := v1.NewDuration(time.Hour)
	pool.Spec.Template.Spec.ExpireAfter, pool.Spec.Template.Spec.TerminationGracePeriod = v1.NewNillableDuration(48*time.Hour), &grace
	claim, err := nodeclaims.NewStatic(&scheduling.NodePool{Key: v1.NewPoolKey(pool.Name), Object: pool}, nodeclaims.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if life, expires := claim.Spec.ExpireAfter.Duration(); !expires || life != 48*time.Hour || claim.Spec.TerminationGracePeriod == nil || claim.Spec.TerminationGracePeriod.Duration != time.Hour {
		t.Errorf("%+v", claim.Spec)
	}
	if len(claim.OwnerReferences) != 1 || claim.OwnerReferences[0].UID != "pool" || claim.OwnerReferences[0].BlockOwnerDeletion == nil || !*claim.OwnerReferences[0].BlockOwnerDeletion {
		t.Errorf("owners %+v", claim.OwnerReferences)
	}
	pool.Spec.Template.Spec.ExpireAfter = v1.NillableDuration{}
	pool.Default()
	if life, _ := pool.Spec.Template.Spec.ExpireAfter.Duration(); life != 720*time.Hour {
		t.Errorf("DIS-015: by default %s", life)
	}
}

// API-406, API-442, DIS-279: a node that is deleted by hand goes although a pod protects itself: the pod only holds its drain up.
func TestDeletedByHand(t *testing.T) {
	protected := []*corev1.Pod{drainPod("a", doNotDisrupt("true"))}
	s := provisioning.NodeTermination{Node: goingNode(), Claims: []*v1.NodeClaim{testClaim(registeredAt(start))}, Pods: protected}
	if got := texts(provisioning.TerminateNode(s, at(1)).Effects); !slices.Equal(got, []string{"delete nodeclaim default-1 ()"}) {
		t.Errorf("%q", got)
	}
	s.Node, s.Claims = goingNode(closed), []*v1.NodeClaim{testClaim(registeredAt(start), leaving, draining)}
	if step := provisioning.TerminateNode(s, at(3600)); len(step.Effects) != 0 || len(step.Events) != 1 || step.Events[0].Reason != provisioning.EventFailedDraining {
		t.Errorf("after an hour: %v, %+v", texts(step.Effects), step.Events)
	}
}
