package provisioning_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/provisioning"
)

// PRV-083: binding, ending and terminating are events of a node; a DaemonSet's pods are not.
func TestPodEvents(t *testing.T) {
	bound := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{NodeName: "n"}}
	change := func(f func(*corev1.Pod)) *corev1.Pod {
		p := bound.DeepCopy()
		f(p)
		return p
	}
	waiting := change(func(p *corev1.Pod) { p.Spec.NodeName = "" })
	ended := change(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	deleted := change(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: start} })
	running := change(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
	daemon := change(func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet"}}
	})
	for name, c := range map[string]struct {
		old, pod *corev1.Pod
		want     bool
	}{
		"seen first":              {nil, bound, true},
		"bound":                   {waiting, bound, true},
		"ended":                   {bound, ended, true},
		"deleted":                 {bound, deleted, true},
		"gone":                    {deleted, nil, true},
		"merely running":          {bound, running, false},
		"waiting":                 {nil, waiting, false},
		"waiting and gone":        {waiting, nil, false},
		"a DaemonSet's":           {nil, daemon, false},
		"a DaemonSet's that went": {daemon, nil, false},
		"nothing":                 {nil, nil, false},
	} {
		if got := provisioning.IsPodEvent(c.old, c.pod); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// PRV-083: the time is stored at most every ten seconds.
func TestPodEventsAreStoredSparingly(t *testing.T) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	first, _ := provisioning.NotePodEvent(claim, start, start)
	if first == nil || !first.Status.LastPodEventTime.Time.Equal(start) {
		t.Fatalf("the first event is not stored: %+v", first)
	}
	if changed, again := provisioning.NotePodEvent(first, start.Add(4*time.Second), start.Add(4*time.Second)); changed != nil || again != 6*time.Second {
		t.Errorf("an event after 4 s: %v, again in %s, want 6 s", changed, again)
	}
	if changed, _ := provisioning.NotePodEvent(first, start.Add(4*time.Second), start.Add(10*time.Second)); changed == nil ||
		!changed.Status.LastPodEventTime.Time.Equal(start.Add(4*time.Second)) {
		t.Errorf("after 10 s the event after 4 s is stored as %+v", changed)
	}
	if changed, again := provisioning.NotePodEvent(first, start.Add(-time.Second), start.Add(time.Minute)); changed != nil || again != 0 {
		t.Error("an event of before is stored")
	}
	first.DeletionTimestamp = &metav1.Time{Time: start}
	if changed, _ := provisioning.NotePodEvent(first, start.Add(time.Minute), start.Add(time.Minute)); changed != nil {
		t.Error("a claim that is going is written to")
	}
}

// PRV-086: claims and nodes made by earlier versions get the label of their node class.
func TestHydrationAddsTheNodeClassLabel(t *testing.T) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	claim.Spec.NodeClassRef = v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "blue"}
	got := provisioning.HydrateClaim(claim, nil)
	if got == nil || got.Labels["karpenter.k8s.aws/ec2nodeclass"] != "blue" {
		t.Fatalf("claim: %+v", got)
	}
	if again := provisioning.HydrateClaim(got, nil); again != nil {
		t.Errorf("hydrated twice: %v", again.Labels)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1.NodeRegisteredLabelKey: "true"}}}
	if got := provisioning.HydrateNode(node, claim); got == nil || got.Labels["karpenter.k8s.aws/ec2nodeclass"] != "blue" {
		t.Errorf("node: %+v", got)
	}
	delete(node.Labels, v1.NodeRegisteredLabelKey)
	if got := provisioning.HydrateNode(node, claim); got != nil {
		t.Error("a node that is not registered gets its labels when it registers, not before")
	}
}

// PRV-009: hashes of another version are rewritten, but a claim that has drifted keeps its own.
func TestHydrationRewritesHashesOfOtherVersions(t *testing.T) {
	pool := poolToShow()
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.NodePoolLabelKey: pool.Name},
		Annotations: map[string]string{v1.NodePoolHashAnnotationKey: "1", v1.NodePoolHashVersionAnnotationKey: "v1"}}}
	got := provisioning.HydrateClaim(claim, pool)
	if got == nil || got.Annotations[v1.NodePoolHashAnnotationKey] != pool.Hash() || got.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		t.Fatalf("claim: %+v", got)
	}
	claim.Conditions().SetTrue(v1.ConditionDrifted, start)
	got = provisioning.HydrateClaim(claim, pool)
	if got.Annotations[v1.NodePoolHashAnnotationKey] != "1" || got.Annotations[v1.NodePoolHashVersionAnnotationKey] != v1.NodePoolHashVersion {
		t.Errorf("a drifted claim has %v", got.Annotations)
	}
	claim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
	if got := provisioning.HydrateClaim(claim, pool); got != nil {
		t.Errorf("a hash of this version is rewritten: %v", got.Annotations)
	}
}
