package provisioning_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/provisioning"
)

func leaving(c *v1.NodeClaim) {
	c.DeletionTimestamp = &metav1.Time{Time: start}
	c.Finalizers = []string{v1.TerminationFinalizer}
}

func within(period time.Duration) func(*v1.NodeClaim) {
	return func(c *v1.NodeClaim) { c.Spec.TerminationGracePeriod = &v1.Duration{Duration: period} }
}

// PRV-065: deadline, nodes, instance, finalizer, in this order.
func TestTerminateClaim(t *testing.T) {
	claim := testClaim(registeredAt(start), leaving, within(time.Hour))
	step := provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim}, at(1))
	claim = storedClaim(t, step)
	if got := claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey]; got != "2026-05-04T13:00:00Z" || len(step.Events) != 1 {
		t.Errorf("deadline %q, %d events", got, len(step.Events))
	}
	node := readyNode()
	step = provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Nodes: []*corev1.Node{node}}, at(1))
	if diff := cmp.Diff([]string{"delete node node-1"}, texts(step.Effects)); diff != "" {
		t.Error(diff)
	}
	node.DeletionTimestamp = &metav1.Time{Time: start}
	if step := provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Nodes: []*corev1.Node{node}}, at(1)); len(step.Effects) != 0 {
		t.Errorf("while its node drains: %v", texts(step.Effects))
	}
	step = provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim}, at(1))
	if diff := cmp.Diff([]string{"put nodeclaim default-1", "terminate instance of default-1"}, texts(step.Effects)); diff != "" || step.Again != time.Second {
		t.Errorf("again in %s\n%s", step.Again, diff)
	}
	claim = storedClaim(t, step)
	if !claim.Conditions().IsTrue(v1.ConditionInstanceTerminating) {
		t.Error("the claim does not show that its instance is ending")
	}
	for after, again := range map[float64]time.Duration{1: time.Second, 5.9: time.Second, 6: 5 * time.Second, 600: 5 * time.Second} {
		step := provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Instance: provisioning.InstanceEnding}, at(after))
		if len(step.Effects) != 0 || step.Again != again {
			t.Errorf("%v s on, while the instance ends: %v, again in %s", after, texts(step.Effects), step.Again)
		}
		step = provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim}, at(after))
		if diff := cmp.Diff([]string{"terminate instance of default-1"}, texts(step.Effects)); diff != "" || step.Again != again {
			t.Errorf("%v s on: again in %s\n%s", after, step.Again, diff)
		}
	}
	gone := storedClaim(t, provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Instance: provisioning.InstanceGone}, at(6)))
	if len(gone.Finalizers) != 0 {
		t.Errorf("finalizers %v", gone.Finalizers)
	}
}

// A claim that never learnt of its instance looks for it before it goes.
func TestTerminateUnlaunchedClaim(t *testing.T) {
	claim := testClaim(leaving)
	step := provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim}, at(1))
	if diff := cmp.Diff([]string{"find instance of default-1"}, texts(step.Effects)); diff != "" {
		t.Error(diff)
	}
	found := storedClaim(t, provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Searched: true, Found: "sim:///7"}, at(1)))
	if found.Status.ProviderID != "sim:///7" || len(found.Finalizers) == 0 {
		t.Errorf("%+v", found.Status)
	}
	if gone := storedClaim(t, provisioning.TerminateClaim(provisioning.ClaimTermination{Claim: claim, Searched: true}, at(1))); len(gone.Finalizers) != 0 {
		t.Error("the finalizer stays though there is no instance")
	}
}

func goingNode(edit ...func(*corev1.Node)) *corev1.Node {
	return readyNode(append([]func(*corev1.Node){func(n *corev1.Node) {
		n.DeletionTimestamp = &metav1.Time{Time: start}
		n.Finalizers = []string{v1.TerminationFinalizer}
	}}, edit...)...)
}

func closed(n *corev1.Node) {
	n.Spec.Taints = append(n.Spec.Taints, v1.DisruptedTaint())
	n.Labels[v1.ExcludeBalancersLabelKey] = "karpenter"
}

func draining(c *v1.NodeClaim) {
	c.Conditions().SetUnknown(v1.ConditionDrained, "Draining", "Draining", start)
}
func drained(c *v1.NodeClaim)  { c.Conditions().SetTrue(v1.ConditionDrained, start) }
func detached(c *v1.NodeClaim) { c.Conditions().SetTrue(v1.ConditionVolumesDetached, start) }

func attachment(name, volume string) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	a.Spec.NodeName, a.Spec.Source.PersistentVolumeName = "node-1", &volume
	return a
}

// PRV-066 to PRV-073: each stage of a node's end.
func TestTerminateNode(t *testing.T) {
	claim := func(edit ...func(*v1.NodeClaim)) []*v1.NodeClaim {
		return []*v1.NodeClaim{testClaim(append([]func(*v1.NodeClaim){registeredAt(start), leaving}, edit...)...)}
	}
	notReady := func(n *corev1.Node) { n.Status.Conditions = nil }
	deadline := func(c *v1.NodeClaim) {
		c.Spec.TerminationGracePeriod = &v1.Duration{Duration: time.Minute}
		c.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = at(60).Format(time.RFC3339)
	}
	uses := map[string][]string{"uid-a": {"pv-a"}, "uid-stays": {"pv-stays"}}
	for name, c := range map[string]struct {
		s    provisioning.NodeTermination
		at   float64
		want string
		cond string // type=status/reason that the claim is stored with
	}{
		"PRV-066: its claim is deleted too":         {s: provisioning.NodeTermination{Node: goingNode(), Claims: []*v1.NodeClaim{testClaim(registeredAt(start))}}, want: "delete nodeclaim default-1 ()"},
		"PRV-066: not ready: is it there?":          {s: provisioning.NodeTermination{Node: goingNode(notReady), Claims: claim()}, want: "ask for instance of default-1"},
		"PRV-066: not ready and gone":               {s: provisioning.NodeTermination{Node: goingNode(notReady), Claims: claim(), Instance: provisioning.InstanceGone}, want: "put node node-1"},
		"PRV-066: ready: closed first":              {s: provisioning.NodeTermination{Node: goingNode(), Claims: claim()}, want: "put node node-1"},
		"PRV-071: the drain begins":                 {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(), Pods: []*corev1.Pod{drainPod("a")}}, want: "put nodeclaim default-1,evict pod default/a", cond: "Drained=Unknown/Draining"},
		"PRV-071: at least five seconds":            {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(draining)}, at: 4.9},
		"PRV-071: then it is over":                  {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(draining)}, at: 5, want: "put nodeclaim default-1", cond: "Drained=True/Drained"},
		"PRV-071: not while a pod is there":         {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(draining), Pods: []*corev1.Pod{drainPod("a")}}, at: 60, want: "evict pod default/a"},
		"PRV-072: volumes are waited for":           {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(drained), Attachments: []*storagev1.VolumeAttachment{attachment("x", "pv-a")}}, want: "put nodeclaim default-1", cond: "VolumesDetached=Unknown/AwaitingVolumeDetachment"},
		"PRV-072: not those of pods that stay":      {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(drained), VolumesOf: uses, Pods: []*corev1.Pod{drainPod("stays", tolerates)}, Attachments: []*storagev1.VolumeAttachment{attachment("x", "pv-stays")}}, want: "put nodeclaim default-1", cond: "VolumesDetached=True/VolumesDetached"},
		"PRV-072: until the deadline":               {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(deadline, drained), Attachments: []*storagev1.VolumeAttachment{attachment("x", "pv-a")}}, at: 61, want: "put nodeclaim default-1", cond: "VolumesDetached=False/TerminationGracePeriodElapsed"},
		"PRV-073: then the instance":                {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(drained, detached)}, want: "put nodeclaim default-1,terminate instance of default-1", cond: "InstanceTerminating=True/InstanceTerminating"},
		"PRV-073: not ready, and known still":       {s: provisioning.NodeTermination{Node: goingNode(closed, notReady), Claims: claim(drained, detached), Instance: provisioning.InstanceThere}, want: "put nodeclaim default-1,terminate instance of default-1", cond: "InstanceTerminating=True/InstanceTerminating"},
		"PRV-073: while it ends":                    {s: provisioning.NodeTermination{Node: goingNode(closed, notReady), Claims: claim(drained, detached), Instance: provisioning.InstanceEnding}},
		"PRV-073: then the node":                    {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: claim(drained, detached), Instance: provisioning.InstanceGone}, want: "put node node-1"},
		"PRV-066: no claim: drained":                {s: provisioning.NodeTermination{Node: goingNode(closed), Pods: []*corev1.Pod{drainPod("a")}, DrainingSince: start}, at: 60, want: "evict pod default/a"},
		"PRV-066: no claim: its instance is spared": {s: provisioning.NodeTermination{Node: goingNode(closed), DrainingSince: start}, at: 60, want: "put node node-1"},
		"PRV-066: several claims: as without one":   {s: provisioning.NodeTermination{Node: goingNode(closed), Claims: append(claim(), claim()...), DrainingSince: start}, at: 60, want: "put node node-1"},
		"PRV-065: the deadline is set first":        {s: provisioning.NodeTermination{Node: goingNode(), Claims: claim(within(time.Minute))}, want: "put nodeclaim default-1"},
	} {
		step := provisioning.TerminateNode(c.s, at(c.at))
		if got := strings.Join(texts(step.Effects), ","); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
			continue
		}
		if c.cond != "" {
			kind, rest, _ := strings.Cut(c.cond, "=")
			got := storedClaim(t, step).Conditions().Get(kind)
			if string(got.Status)+"/"+got.Reason != rest {
				t.Errorf("%s: condition %s is %s/%s", name, kind, got.Status, got.Reason)
			}
		}
	}
	node := storedNode(t, provisioning.TerminateNode(provisioning.NodeTermination{Node: goingNode(), Claims: claim()}, start))
	if node.Labels[v1.ExcludeBalancersLabelKey] != "karpenter" || node.Spec.Taints[len(node.Spec.Taints)-1] != v1.DisruptedTaint() {
		t.Errorf("PRV-066: %v %v", node.Labels, node.Spec.Taints)
	}
	alpha := func(n *corev1.Node) {
		delete(n.Labels, v1.NodePoolLabelKey)
		n.Labels[v1alpha5.ProvisionerNameLabelKey] = "default"
	}
	cordoned := storedNode(t, provisioning.TerminateNode(provisioning.NodeTermination{Node: goingNode(alpha), Claims: claim()}, start))
	if cordoned.Labels[v1.ExcludeBalancersLabelKey] != "karpenter" || !cordoned.Spec.Unschedulable || v1.DisruptionTainted(cordoned) {
		t.Errorf("API-243: %v %+v; want it cordoned and not tainted", cordoned.Labels, cordoned.Spec)
	}
	others := storedNode(t, provisioning.TerminateNode(provisioning.NodeTermination{Node: goingNode(alpha, func(n *corev1.Node) { n.Spec.Unschedulable = true }), Claims: claim()}, start))
	if !others.Spec.Unschedulable || v1.DisruptionCordoned(others) {
		t.Errorf("API-243: somebody's cordon is taken for ours: %v", others.Annotations)
	}
	tolerant := drainPod("daemon", ofDaemonSet, func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	})
	for name, c := range map[string]struct {
		node *corev1.Node
		want string
	}{
		"API-244: pods of DaemonSets stay on a cordoned node": {cordoned, "put nodeclaim default-1"},
		"API-244: and are evicted from a tainted one":         {node, "evict pod default/daemon"},
	} {
		s := provisioning.NodeTermination{Node: c.node, Claims: claim(draining), Pods: []*corev1.Pod{tolerant}}
		if got := strings.Join(texts(provisioning.TerminateNode(s, at(60)).Effects), ","); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	held := provisioning.NodeTermination{Node: cordoned, Claims: claim(drained), VolumesOf: map[string][]string{"uid-daemon": {"pv-a"}}, Pods: []*corev1.Pod{tolerant}, Attachments: []*storagev1.VolumeAttachment{attachment("x", "pv-a")}}
	if got := storedClaim(t, provisioning.TerminateNode(held, start)).Conditions().Get(v1.ConditionVolumesDetached); got.Status != "True" {
		t.Errorf("API-244: volumes of pods that stay are waited for: %+v", got)
	}
	bad := claim(func(c *v1.NodeClaim) { c.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] = "soon" }, draining)
	step := provisioning.TerminateNode(provisioning.NodeTermination{Node: goingNode(closed), Claims: bad, Pods: []*corev1.Pod{drainPod("a")}}, at(60))
	if len(step.Events) != 1 || !strings.Contains(step.Events[0].Message, `"soon"`) || texts(step.Effects)[0] != "evict pod default/a" {
		t.Errorf("an annotation that is no time: %+v %v", step.Events, texts(step.Effects))
	}
	stays := goingNode(func(n *corev1.Node) { n.DeletionTimestamp = nil })
	if step := provisioning.TerminateNode(provisioning.NodeTermination{Node: stays}, start); len(step.Effects) != 0 {
		t.Errorf("a node that is not being deleted: %v", texts(step.Effects))
	}
}
