package buffers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/autoscaling/v1beta1"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/seeded"
)

// PRV-150, PRV-153: what a buffer may refer to, and what is said when that isn't there.
func TestReferences(t *testing.T) {
	elsewhere := podTemplate("else")
	elsewhere.Namespace = "other"
	in := Input{
		PodTemplates: []*corev1.PodTemplate{podTemplate("web", "cpu", "1"), elsewhere, nil},
		Deployments:  []*appsv1.Deployment{deployment("web", ptr(int32(10))), nil},
		ReplicaSets: []*appsv1.ReplicaSet{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "set"}, Spec: appsv1.ReplicaSetSpec{Replicas: ptr(int32(4)), Template: template()},
		}, nil},
		StatefulSets: []*appsv1.StatefulSet{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"}, Spec: appsv1.StatefulSetSpec{Replicas: ptr(int32(2)), Template: template()},
		}, nil},
	}
	leaving := onTemplate("web", ptr(int32(1)))
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for _, tc := range []struct {
		name            string
		buffer          *v1beta1.CapacityBuffer
		reason, message string
		pods            int
	}{
		{"PodTemplate", onTemplate("web", ptr(int32(3))), "Resolved", "", 3},
		{"PodTemplate that is missing", onTemplate("wob", ptr(int32(3))), "PodTemplateNotFound", `there is no PodTemplate "wob" in namespace "shop": create it or correct the reference`, 0},
		{"PodTemplate of another namespace", onTemplate("else", ptr(int32(3))), "PodTemplateNotFound", `no PodTemplate "else"`, 0},
		{"Deployment", onWorkload("Deployment", "web", ptr(int32(20))), "Resolved", "", 2},
		{"ReplicaSet", onWorkload("ReplicaSet", "set", ptr(int32(100))), "Resolved", "", 4},
		{"StatefulSet", onWorkload("StatefulSet", "db", ptr(int32(50))), "Resolved", "", 1},
		{"Deployment that is missing", onWorkload("Deployment", "db", ptr(int32(20))), "ScalableRefNotFound", `there is no Deployment "db"`, 0},
		{"unknown kind", onWorkload("Job", "web", ptr(int32(20))), "ResolutionFailed", "spec.scalableRef.kind", 0},
		{"both", func() *v1beta1.CapacityBuffer {
			b := onTemplate("web", ptr(int32(3)))
			b.Spec.ScalableRef = onWorkload("Deployment", "web", nil).Spec.ScalableRef
			return b
		}(), "ResolutionFailed", "spec.scalableRef", 0},
		{"being deleted", leaving, "ResolutionFailed", "being deleted", 0},
		{"nothing that bounds it", onTemplate("web", nil, "memory", "1Gi"), "ResolutionFailed", "names no resource that the pods request", 0},
		{"a slip of the pen", onTemplate("web", ptr(int32(2_000_000_000))), "ResolutionFailed", "more than the 100000 allowed", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in.Buffers = []*v1beta1.CapacityBuffer{tc.buffer}
			got := Resolve(in)[0]
			if got.Reason != tc.reason || len(got.Pods) != tc.pods || !strings.Contains(got.Message, tc.message) || tc.message == "" && got.Message != "" {
				t.Errorf("%s (%s) with %d pods, want %s (%s) with %d", got.Reason, got.Message, len(got.Pods), tc.reason, tc.message, tc.pods)
			}
			if got.Ready() != (tc.reason == "Resolved") {
				t.Errorf("ready: %v", got.Ready())
			}
		})
	}
}

// PRV-151: the larger size, cut down to the limits; the limits alone without a size.
func TestCount(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		replicas, percentage *int32
		workload             *int32
		limits, requests     []string
		want                 int
		message              string
	}{
		{name: "replicas", replicas: ptr(int32(3)), want: 3},
		{name: "no replicas", replicas: ptr(int32(0)), want: 0},
		{name: "percentage", percentage: ptr(int32(20)), workload: ptr(int32(10)), want: 2},
		{name: "percentage, rounded up", percentage: ptr(int32(21)), workload: ptr(int32(10)), want: 3},
		{name: "percentage, at least one", percentage: ptr(int32(1)), workload: ptr(int32(3)), want: 1},
		{name: "percentage of nothing", percentage: ptr(int32(50)), workload: ptr(int32(0)), want: 0},
		{name: "percentage of 0", percentage: ptr(int32(0)), workload: ptr(int32(50)), want: 0},
		{name: "percentage above 100", percentage: ptr(int32(250)), workload: ptr(int32(2)), want: 5},
		{name: "percentage of a count that is not given", percentage: ptr(int32(100)), want: 1},
		{name: "both: replicas are more", replicas: ptr(int32(7)), percentage: ptr(int32(50)), workload: ptr(int32(10)), want: 7},
		{name: "both: percentage is more", replicas: ptr(int32(3)), percentage: ptr(int32(50)), workload: ptr(int32(10)), want: 5},
		{name: "neither and no limits", workload: ptr(int32(10)), want: 0},
		{name: "limits alone", limits: []string{"cpu", "10"}, requests: []string{"cpu", "3"}, want: 3},
		{name: "the tightest limit", limits: []string{"cpu", "10", "memory", "5Gi"}, requests: []string{"cpu", "1", "memory", "2Gi"}, want: 2},
		{name: "only what is both limited and requested", limits: []string{"cpu", "10", "example.com/gpu", "1"}, requests: []string{"cpu", "1", "memory", "2Gi"}, want: 10},
		{name: "a limit of 0", limits: []string{"cpu", "0"}, requests: []string{"cpu", "1m"}, want: 0},
		{name: "a request of 0 is none", replicas: ptr(int32(4)), limits: []string{"cpu", "0"}, requests: []string{"cpu", "0"}, want: 4},
		{name: "limits exactly used up", limits: []string{"cpu", "1"}, requests: []string{"cpu", "100m"}, want: 10},
		{name: "limits just missed", limits: []string{"cpu", "999m"}, requests: []string{"cpu", "100m"}, want: 9},
		{name: "units that mix", limits: []string{"memory", "1Gi"}, requests: []string{"memory", "100M"}, want: 10},
		{name: "limits below size", replicas: ptr(int32(5)), limits: []string{"cpu", "10"}, requests: []string{"cpu", "3"}, want: 3, message: "spec.limits[cpu] holds 3 of the 5 pods asked for"},
		{name: "limits above size", replicas: ptr(int32(2)), limits: []string{"cpu", "10"}, requests: []string{"cpu", "3"}, want: 2},
		{name: "limits that bound nothing, with a size", replicas: ptr(int32(5)), limits: []string{"memory", "1Gi"}, requests: []string{"cpu", "3"}, want: 5},
		{name: "a number of pods as limit", replicas: ptr(int32(5)), limits: []string{"pods", "4"}, want: 4, message: "spec.limits[pods] holds 4 of the 5 pods asked for"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := onWorkload("Deployment", "web", tc.percentage)
			b.Spec.Replicas = tc.replicas
			if tc.limits != nil {
				b.Spec.Limits = build.Amounts(tc.limits...)
			}
			got := Resolve(Input{Buffers: []*v1beta1.CapacityBuffer{b}, Deployments: []*appsv1.Deployment{deployment("web", tc.workload, tc.requests...)}})[0]
			if !got.Ready() || len(got.Pods) != tc.want || got.Message != tc.message {
				t.Errorf("%d pods (%s: %q), want %d (%q)", len(got.Pods), got.Reason, got.Message, tc.want, tc.message)
			}
		})
	}
	t.Run("a percentage means nothing with a PodTemplate", func(t *testing.T) {
		b := onTemplate("web", ptr(int32(2)))
		b.Spec.Percentage = ptr(int32(1000))
		if got := Resolve(Input{Buffers: []*v1beta1.CapacityBuffer{b}, PodTemplates: []*corev1.PodTemplate{podTemplate("web")}})[0]; len(got.Pods) != 2 {
			t.Errorf("%d pods", len(got.Pods))
		}
	})
	t.Run("limits stand in for requests that are missing (SCH-060)", func(t *testing.T) {
		pt := podTemplate("web")
		pt.Template.Spec.Containers[0].Resources.Limits = build.Amounts("cpu", "2")
		got := Resolve(Input{Buffers: []*v1beta1.CapacityBuffer{onTemplate("web", nil, "cpu", "6")}, PodTemplates: []*corev1.PodTemplate{pt}})[0]
		if len(got.Pods) != 3 {
			t.Errorf("%d pods (%s)", len(got.Pods), got.Message)
		}
	})
}

// PRV-151: as many fit as fit, whatever numbers are written in.
func TestQuotientIsTheLargestThatFits(t *testing.T) {
	amount := rapid.StringMatching(`([1-9][0-9]{0,2}(\.[0-9]{1,3})?)(m|k|M|G|Ki|Mi|Gi|e3|)`)
	seeded.Check(t, func(t *rapid.T) {
		large, small := build.Amounts("a", amount.Draw(t, "large"))["a"], build.Amounts("a", amount.Draw(t, "small"))["a"]
		times := quotient(large, small)
		fits := func(n int64) bool {
			sum := small.DeepCopy()
			sum.Mul(n)
			return sum.Cmp(large) <= 0
		}
		if times > 0 && !fits(times) || times < 1<<31-1 && fits(times+1) {
			t.Errorf("%s goes %d times into %s", small.String(), times, large.String())
		}
	})
}

func TestPodsOfAllBuffersAreBounded(t *testing.T) {
	ten := 10
	in := Input{MaxPods: &ten, PodTemplates: []*corev1.PodTemplate{podTemplate("a"), podTemplate("b"), podTemplate("c")}}
	in.Buffers = []*v1beta1.CapacityBuffer{onTemplate("c", ptr(int32(2))), nil, onTemplate("b", ptr(int32(5))), onTemplate("a", ptr(int32(8)))}
	var got []string
	for _, r := range Resolve(in) {
		got = append(got, r.Buffer.Name+" "+r.Reason)
	}
	if diff := cmp.Diff([]string{"a Resolved", "b ResolutionFailed", "c Resolved"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOrderOfInputDoesNotMatter(t *testing.T) {
	in := Input{
		Buffers:      []*v1beta1.CapacityBuffer{onTemplate("b", ptr(int32(1))), onTemplate("a", ptr(int32(2))), onWorkload("Deployment", "web", ptr(int32(100)))},
		PodTemplates: []*corev1.PodTemplate{podTemplate("a"), podTemplate("b")},
		Deployments:  []*appsv1.Deployment{deployment("web", nil)},
	}
	in.Buffers[0].Namespace, in.Buffers[1].Namespace = "shop", "shop"
	first := Resolve(in)
	slices.Reverse(in.Buffers)
	slices.Reverse(in.PodTemplates)
	if diff := cmp.Diff(first, Resolve(in)); diff != "" {
		t.Error(diff)
	}
	if pods := Placeholders(first); len(pods) != 4 || pods[0].Name != "capacity-buffer-a-0" || pods[3].Name != "capacity-buffer-web-0" {
		t.Errorf("placeholders: %v", pods)
	}
}

// PRV-152.
func TestPlaceholders(t *testing.T) {
	pt := podTemplate("web", "cpu", "1")
	pt.Template.Annotations = map[string]string{"karpenter.sh/do-not-disrupt": "true"}
	spec := &pt.Template.Spec
	spec.NodeName, spec.PriorityClassName, spec.Priority = "n", "high", ptr(int32(9))
	spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}}
	spec.NodeSelector = map[string]string{"disk": "ssd"}
	spec.Volumes = []corev1.Volume{
		{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
	}
	spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data"}, {Name: "config"}}
	spec.InitContainers = []corev1.Container{{Name: "init", VolumeDevices: []corev1.VolumeDevice{{Name: "scratch"}}}}
	spec.HostNetwork = true
	spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	before := pt.DeepCopy()

	pods := Resolve(Input{Buffers: []*v1beta1.CapacityBuffer{onTemplate("web", ptr(int32(2)))}, PodTemplates: []*corev1.PodTemplate{pt}})[0].Pods
	want := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "capacity-buffer-web-1", UID: "uid-web-1",
			Labels: map[string]string{"app": "web"},
			Annotations: map[string]string{
				"karpenter.sh/capacity-buffer-fake-pod":  "true",
				"karpenter.sh/capacity-buffer-name":      "web",
				"karpenter.sh/capacity-buffer-namespace": "shop",
			},
		},
		Spec: corev1.PodSpec{
			HostNetwork:    true,
			NodeSelector:   map[string]string{"disk": "ssd"},
			Volumes:        before.Template.Spec.Volumes[2:],
			InitContainers: []corev1.Container{{Name: "init", VolumeDevices: []corev1.VolumeDevice{}}},
			Containers: []corev1.Container{{
				Name: "main", Resources: corev1.ResourceRequirements{Requests: build.Amounts("cpu", "1")},
				VolumeMounts: []corev1.VolumeMount{{Name: "config"}},
				Ports:        []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: "TCP"}},
			}},
			Priority: ptr(int32(-2147483648)),
		},
		Status: corev1.PodStatus{
			Phase:      corev1.PodPending,
			Conditions: []corev1.PodCondition{{Type: "PodScheduled", Status: "False", Reason: "Unschedulable"}},
		},
	}
	if diff := cmp.Diff(want, pods[1]); diff != "" {
		t.Errorf("placeholder (-want +got):\n%s", diff)
	}
	if pods[0].Name != "capacity-buffer-web-0" || pods[0].UID != "uid-web-0" {
		t.Errorf("the first is %s, %s", pods[0].Name, pods[0].UID)
	}
	if diff := cmp.Diff(before, pt); diff != "" {
		t.Errorf("the template was changed:\n%s", diff)
	}
	if name, ok := BufferOf(pods[0]); !ok || name != (types.NamespacedName{Namespace: "shop", Name: "web"}) || !IsPlaceholder(pods[0]) {
		t.Errorf("belongs to %v (%v)", name, ok)
	}
	if _, ok := BufferOf(&corev1.Pod{}); ok || IsPlaceholder(&corev1.Pod{}) {
		t.Error("an ordinary pod is taken for a placeholder")
	}
	t.Run("without a UID the name is what is stable", func(t *testing.T) {
		b := onTemplate("web", ptr(int32(1)))
		b.UID = ""
		pods := Resolve(Input{Buffers: []*v1beta1.CapacityBuffer{b}, PodTemplates: []*corev1.PodTemplate{pt}})[0].Pods
		if pods[0].UID != "shop/web-0" {
			t.Errorf("UID %s", pods[0].UID)
		}
	})
}

// SCH-060: the pod's own limits stand in for its requests, but not where containers ask.
func TestPodLevelLimits(t *testing.T) {
	pt := podTemplate("web", "cpu", "1")
	pt.Template.Spec.Resources = &corev1.ResourceRequirements{Limits: build.Amounts("cpu", "4", "memory", "8Gi")}
	pods := Resolve(Input{Buffers: []*v1beta1.CapacityBuffer{onTemplate("web", ptr(int32(1)))}, PodTemplates: []*corev1.PodTemplate{pt}})[0].Pods
	if diff := cmp.Diff(build.Amounts("memory", "8Gi"), pods[0].Spec.Resources.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// What admission adds counts, but it can't make a placeholder into anything else.
func TestAdmit(t *testing.T) {
	calls := 0
	in := Input{
		Buffers: []*v1beta1.CapacityBuffer{onTemplate("web", nil, "cpu", "3")}, PodTemplates: []*corev1.PodTemplate{podTemplate("web", "cpu", "1")},
		Admit: func(pod *corev1.Pod) {
			calls++
			pod.Spec.Overhead = build.Amounts("cpu", "500m")
			pod.Spec.Priority, pod.Spec.PriorityClassName = ptr(int32(5)), "default"
		},
	}
	got := Resolve(in)[0]
	if calls != 1 || len(got.Pods) != 2 || *got.Pods[0].Spec.Priority != Priority || got.Pods[0].Spec.PriorityClassName != "" {
		t.Errorf("%d calls, pods %v", calls, got.Pods)
	}
}
