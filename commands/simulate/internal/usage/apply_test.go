package usage

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// owned returns a pod of a workload with one container app. Its only owner is the workload, even if a Deployment's pods have ReplicaSets.
func owned(w Workload, name, cpu, memory string) *corev1.Pod {
	yes := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name, OwnerReferences: []metav1.OwnerReference{{Kind: w.Kind, Name: w.Name, Controller: &yes}}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: requests(cpu, memory)}}}},
	}
}

func requests(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func workloadOf(pod *corev1.Pod) Workload {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return Workload{owner.Kind, pod.Namespace, owner.Name}
	}
	return Workload{"Pod", pod.Namespace, pod.Name}
}

func TestFind(t *testing.T) {
	var pods []*corev1.Pod
	for _, w := range []Workload{
		{"Deployment", "ns", "web"}, {"Deployment", "ns", "web-api"}, {"StatefulSet", "ns", "db"}, {"DaemonSet", "ns", "agent"}, {"Job", "ns", "load"}, {"CronJob", "ns", "night"},
		{"DaemonSet", "ns", "web-5c6d7"}, {"RayCluster", "ns", "ray"}, {"StatefulSet", "ns", "twice"}, {"DaemonSet", "ns", "twice"}, {"Pod", "ns", "bare"},
	} {
		pod := owned(w, "is-"+w.Name, "1", "1Gi")
		if w.Kind == "Pod" {
			pod.Name, pod.OwnerReferences = w.Name, nil
		}
		pods = append(pods, pod)
	}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "proxy"}}
	x := index(&scheduling.Snapshot{Pods: pods[:5], Nodes: []scheduling.Node{{Pods: pods[5:]}}, DaemonSets: []*appsv1.DaemonSet{set}}, workloadOf)
	for pod, want := range map[string]string{
		"is-web": "Deployment ns/web", "bare": "Pod ns/bare",
		"web-7d9f8c6b5-x7k2p": "Deployment ns/web", "web-api-7d9f8c6b5-x7k2p": "Deployment ns/web-api", "web-2035384211-x7k2p": "Deployment ns/web",
		"db-0": "StatefulSet ns/db", "db-12": "StatefulSet ns/db", "agent-x7k2p": "DaemonSet ns/agent", "proxy-x7k2p": "DaemonSet ns/proxy",
		"load-x7k2p": "Job ns/load", "load-3-x7k2p": "Job ns/load", "night-29453760-x7k2p": "CronJob ns/night",
		"web-5c6d7-x7k2p": "DaemonSet ns/web-5c6d7", // longer than web
		"ray-x7k2p":       "RayCluster ns/ray", "ray-5c6d7-0": "RayCluster ns/ray",
		"twice-0": "StatefulSet ns/twice", "twice-x7k2p": "DaemonSet ns/twice",
		"web": "", "web-x7k2p": "", "web-cache-x7k2p": "", "web-7d9f8c6b5-cache": "", "db-x7k2p": "", "agent-0": "", "bare-0": "", "other-7d9f8c6b5-x7k2p": "", "-": "", "": "", "--": "",
	} {
		w, ok := x.find("ns", pod)
		if got := w.String(); ok && got != want || !ok && want != "" {
			t.Errorf("%s: %s, %v, want %s", pod, got, ok, want)
		}
		if _, ok := x.find("elsewhere", pod); ok {
			t.Errorf("%s is found in another namespace", pod)
		}
	}
}

func TestApply(t *testing.T) {
	web, db, agent := Workload{"Deployment", "ns", "web"}, Workload{"StatefulSet", "ns", "db"}, Workload{"DaemonSet", "ns", "agent"}
	pending, twin, running, other := owned(web, "web-0", "1", "2Gi"), owned(web, "web-1", "1", "2Gi"), owned(web, "web-2", "1", "2Gi"), owned(db, "db-0", "1", "1Gi")
	twin.Spec.Containers, twin.OwnerReferences = pending.Spec.Containers, pending.OwnerReferences
	running.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", AllocatedResources: requests("1", "2Gi"), Resources: &corev1.ResourceRequirements{Requests: requests("1", "2Gi")}}}
	daemon := owned(agent, "agent-x7k2p", "100m", "100Mi")
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent"}}
	set.Spec.Template.Spec = daemon.Spec
	snapshot := &scheduling.Snapshot{
		Pods: []*corev1.Pod{pending, twin, other}, Nodes: []scheduling.Node{{Name: "n", Pods: []*corev1.Pod{running, daemon}}}, DaemonSets: []*appsv1.DaemonSet{set},
	}
	before := clone(snapshot)

	u := New(95)
	observe(t, u, podContainer{"ns", "web-7d9f8c6b5-x7k2p", "app"}, amounts{milliCPU: 200})
	observe(t, u, podContainer{"ns", "web-0", "app"}, amounts{milliCPU: 300})
	observe(t, u, podContainer{"ns", "gone", "app"}, amounts{milliCPU: 300})
	observe(t, u, podContainer{"ns", "web-0", "injected"}, amounts{milliCPU: 300})
	if err := u.recommend(containerKey{agent, "app"}, amounts{memory: 300 << 20}); err != nil {
		t.Fatal(err)
	}
	changed, out := u.Apply(snapshot, workloadOf)

	if diff := cmp.Diff(before, snapshot); diff != "" {
		t.Errorf("the snapshot was changed (-before +after):\n%s", diff)
	}
	for _, c := range []struct {
		pod         *corev1.Pod
		cpu, memory string
	}{
		{changed.Pods[0], "300m", "2Gi"}, {changed.Pods[1], "300m", "2Gi"}, {changed.Pods[2], "1", "1Gi"},
		{changed.Nodes[0].Pods[0], "300m", "2Gi"}, {changed.Nodes[0].Pods[1], "100m", "300Mi"},
		{&corev1.Pod{Spec: changed.DaemonSets[0].Spec.Template.Spec}, "100m", "300Mi"},
	} {
		want := requests(c.cpu, c.memory)
		want[corev1.ResourcePods] = resource.MustParse("1")
		if diff := cmp.Diff(want, scheduling.PodRequests(c.pod)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.pod.Name, diff)
		}
	}
	if &changed.Pods[0].Spec.Containers[0] != &changed.Pods[1].Spec.Containers[0] {
		t.Error("pods of one template no longer share its containers")
	}
	if changed.Pods[2] != other {
		t.Error("a pod of unknown usage was copied")
	}
	want := &Outcome{
		Workloads: 2, Pods: 4, Without: 1, Requested: requests("3100m", "6244Mi"), Used: requests("1", "6444Mi"), Unmatched: 2, Example: "container app of pod ns/gone",
		Containers: []Container{
			{web, "app", 3, requests("1", "2Gi"), corev1.ResourceList{"cpu": resource.MustParse("300m")}},
			{agent, "app", 1, requests("100m", "100Mi"), corev1.ResourceList{"memory": resource.MustParse("300Mi")}},
		},
	}
	if diff := cmp.Diff(want, out); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func observe(t *testing.T, u *Usage, at podContainer, a amounts) {
	t.Helper()
	if err := u.observe(at, a); err != nil {
		t.Fatal(err)
	}
}

func clone(s *scheduling.Snapshot) *scheduling.Snapshot {
	pods := func(list []*corev1.Pod) (out []*corev1.Pod) {
		for _, pod := range list {
			out = append(out, pod.DeepCopy())
		}
		return out
	}
	copied := *s
	copied.Pods, copied.Nodes = pods(s.Pods), append([]scheduling.Node(nil), s.Nodes...)
	for i := range copied.Nodes {
		copied.Nodes[i].Pods = pods(copied.Nodes[i].Pods)
	}
	copied.DaemonSets = nil
	for _, set := range s.DaemonSets {
		copied.DaemonSets = append(copied.DaemonSets, set.DeepCopy())
	}
	return &copied
}

// Requests of the pod as a whole, of its init containers, and of a resize that the node can't do, all give way to known usage.
func TestApplyToRequestsElsewhere(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   corev1.ResourceList
	}{
		"the whole pod": {func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: requests("4", "8Gi")}
		}, requests("500m", "8Gi")},
		"of a pod that is known in part": {func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: requests("4", "8Gi")}
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "other"})
		}, requests("4", "8Gi")},
		"of a pod with a sidecar of unknown usage": {func(p *corev1.Pod) {
			p.Spec.Resources = &corev1.ResourceRequirements{Requests: requests("4", "8Gi")}
			p.Spec.InitContainers = []corev1.Container{{Name: "another", RestartPolicy: &always}, {Name: "side"}}
		}, requests("4", "8Gi")},
		"a sidecar": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "side", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: requests("1", "1Gi")}}}
		}, requests("750m", "3Gi")},
		"a resize": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", AllocatedResources: requests("3", "2Gi"), Resources: &corev1.ResourceRequirements{Requests: requests("2", "2Gi")}}}
		}, requests("500m", "2Gi")},
		"a resize that is not possible": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", AllocatedResources: requests("3", "3Gi"), Resources: &corev1.ResourceRequirements{Requests: requests("3", "3Gi")}}}
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
		}, requests("500m", "3Gi")},
		"no request": {func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = nil }, corev1.ResourceList{"cpu": resource.MustParse("500m")}},
	} {
		pod := owned(Workload{"StatefulSet", "ns", "a"}, "a-0", "1", "2Gi")
		c.change(pod)
		before := pod.DeepCopy()
		u := New(95)
		observe(t, u, podContainer{"ns", "a-0", "app"}, amounts{milliCPU: 500})
		observe(t, u, podContainer{"ns", "a-0", "side"}, amounts{milliCPU: 250})
		changed, _ := u.Apply(&scheduling.Snapshot{Pods: []*corev1.Pod{pod}}, workloadOf)
		got := scheduling.PodRequests(changed.Pods[0])
		delete(got, corev1.ResourcePods)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(before, pod); diff != "" {
			t.Errorf("%s: the pod was changed (-before +after):\n%s", name, diff)
		}
	}
}
