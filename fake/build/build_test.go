package build_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake/build"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// text is an object as JSON, in which equal things look alike.
func text(t *testing.T, object any) string {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Each option says in a line what the object says in many, and nothing else.
func TestPodOptions(t *testing.T) {
	controller := true
	for name, c := range map[string]struct {
		option build.PodOption
		want   func(*corev1.Pod)
	}{
		"nothing":     {nil, func(*corev1.Pod) {}},
		"no function": {build.PodFunc(nil), func(*corev1.Pod) {}},
		"labels":      {build.Labels("a", "1", "b"), func(p *corev1.Pod) { p.Labels = map[string]string{"a": "1", "b": ""} }},
		"annotations": {build.Annotations("a", "1"), func(p *corev1.Pod) { p.Annotations = map[string]string{"a": "1"} }},
		"times":       {build.Created(noon), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(noon) }},
		"deleted":     {build.Deleted(noon), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon} }},
		"UID":         {build.UID("u"), func(p *corev1.Pod) { p.UID = "u" }},
		"finalizers":  {build.Finalizers("a", "b"), func(p *corev1.Pod) { p.Finalizers = []string{"a", "b"} }},
		"owner": {build.OwnedBy("apps/v1", "ReplicaSet", "web"), func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid-web", Controller: &controller}}
		}},
		"namespace": {build.Namespace("shop"), func(p *corev1.Pod) { p.Namespace = "shop" }},
		"amount":    {build.Amount("example.com/gpu", "2"), func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = build.Amounts("example.com/gpu", "2") }},
		"no amount": {build.CPU("much"), func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = build.Amounts("cpu", "-1") }},
		"on a node": {build.On("n"), func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Phase = "n", corev1.PodRunning }},
		"waits": {build.Unschedulable(), func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodPending
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		}},
		"selector": {build.Selector("a", "1"), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"a": "1"} }},
		"tolerations": {build.Tolerates("a", "b=1:NoExecute"), func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: "Exists"}, {Key: "b", Operator: "Equal", Value: "1", Effect: "NoExecute"}}
		}},
		"spread": {build.Spread("zone", 2, "app", "web"), func(p *corev1.Pod) {
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 2, WhenUnsatisfiable: "DoNotSchedule", LabelSelector: web()}}
		}},
		"apart": {build.Apart("host", "app", "web"), func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "host", LabelSelector: web()}}}}
		}},
		"together": {build.Together("zone", "app", "web"), func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: web()}}}}
		}},
		"priority": {build.Priority(7), func(p *corev1.Pod) { n := int32(7); p.Spec.Priority = &n }},
	} {
		want := build.Pod("a")
		c.want(want)
		if diff := cmp.Diff(text(t, want), text(t, build.Pod("a", c.option))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func web() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

// Objects are good ones as they come, and with every option.
func TestObjectsAreValid(t *testing.T) {
	pool := build.Pool("a", build.Weight(3), build.Limit("cpu", "10"), build.Budget("10%", v1.DisruptionReasonDrifted), build.Taints("a=b"),
		build.Requires(corev1.LabelArchStable, "In", "amd64"), build.Class("example.com", "Class", "x"), build.ReadyPool(noon))
	for _, p := range []*v1.NodePool{build.Pool("a"), pool} {
		p.Default()
		if errs := p.Validate(); len(errs) > 0 {
			t.Error(errs)
		}
	}
	if !pool.Conditions().IsTrue(v1.ConditionValidationSucceeded) || pool.Spec.Template.Spec.Taints[0].Effect != corev1.TaintEffectNoSchedule || *pool.Spec.Weight != 3 {
		t.Errorf("pool %+v", pool)
	}
	it := build.InstanceType("m", build.CPU("4"), build.MaxPods(20), build.OnDemand("z", 1), build.With(requirements.In(corev1.LabelArchStable, "arm64"), requirements.In("x", "y")))
	claim := build.Claim("a", build.OfType(it, "", ""), build.ProviderID("x:///1"), build.Initialized(noon), build.OfPool("a"), build.Requires("x", "Exists"), build.Taints("k:NoExecute"), build.Class("example.com", "Class", "x"), build.CPU("2"))
	node := build.Node("a", build.OfType(it, "other", "spot"), build.ProviderID("x:///1"), build.Initialized(noon), build.OfPool("a"), build.Taints("k:NoExecute"), build.CPU("3"))
	if errs := claim.Validate(); len(errs) > 0 {
		t.Error(errs)
	}
	if claim.Labels[corev1.LabelTopologyZone] != "z" || claim.Labels[v1.CapacityTypeLabelKey] != "on-demand" || claim.Labels["karpenter.sh/nodepool"] != "a" {
		t.Errorf("claim %v", claim.Labels)
	}
	if !claim.Conditions().IsTrue(v1.ConditionInitialized) || claim.Status.ProviderID != node.Spec.ProviderID || claim.Spec.NodeClassRef.Kind != "Class" ||
		claim.Spec.Resources.Requests.Cpu().String() != "2" {
		t.Errorf("claim %+v", claim)
	}
	if node.Labels[corev1.LabelTopologyZone] != "other" || node.Labels[v1.CapacityTypeLabelKey] != "spot" || node.Labels[corev1.LabelArchStable] != "arm64" || node.Labels["karpenter.sh/initialized"] != "true" {
		t.Errorf("node %v", node.Labels)
	}
	if cpu, pods := node.Status.Allocatable.Cpu().String(), node.Status.Capacity.Pods().String(); cpu != "3" || pods != "20" {
		t.Errorf("node has cpu %s, pods %s", cpu, pods)
	}
}

// What is built twice shares nothing: neither with itself nor with its options.
func TestNothingIsShared(t *testing.T) {
	labels, cpu := build.Labels("a", "1"), build.CPU("1")
	pods := build.Pods("p", 2, labels, cpu, build.Selector("x", "y"))
	pods[0].Labels["a"], pods[0].Spec.NodeSelector["x"] = "2", "z"
	pods[0].Spec.Containers[0].Resources.Requests["cpu"] = build.Amounts("cpu", "9")["cpu"]
	if p := pods[1]; p.Labels["a"] != "1" || p.Spec.NodeSelector["x"] != "y" || p.Spec.Containers[0].Resources.Requests.Cpu().String() != "1" {
		t.Errorf("the other pod changed too: %s", text(t, p))
	}
	it := build.InstanceType("m", cpu)
	node := build.Node("a", build.OfType(it, "", ""))
	node.Status.Capacity["cpu"] = build.Amounts("cpu", "9")["cpu"]
	if it.Capacity.Cpu().String() != "1" {
		t.Error("the instance type changed with its node")
	}
	if n := len(build.Pods("p", -1)); n != 0 {
		t.Errorf("%d pods where -1 were asked for", n)
	}
}
