package scheduling_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/scheduling"
)

func containers(list ...corev1.Container) podOption {
	return func(p *corev1.Pod) { p.Spec.Containers = list }
}

func podLevel(pairs ...string) podOption {
	return func(p *corev1.Pod) { p.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts(pairs...)} }
}

// running adds the status of a container: what is actuated and what is allocated.
func running(name string, actuated, allocated corev1.ResourceList) podOption {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: name, Resources: &corev1.ResourceRequirements{Requests: actuated}, AllocatedResources: allocated,
		})
	}
}

func infeasible(p *corev1.Pod) {
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible,
	})
}

// SCH-060, SCH-061: what a pod demands.
func TestPodRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want corev1.ResourceList
	}{
		{"SCH-060 containers add up", pod("p", containers(container("a", "cpu=1", "memory=1Gi"), container("b", "cpu=500m", "example.com/gpu=2"))),
			amounts("cpu=1500m", "memory=1Gi", "example.com/gpu=2", "pods=1")},
		{"SCH-060 limits don't count", pod("p", func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: amounts("cpu=4")}
		}), amounts("pods=1")},
		{"SCH-060 an init container larger than the containers", pod("p", containers(container("a", "cpu=1", "memory=4Gi")), initContainers(container("i", "cpu=3", "memory=1Gi"))),
			amounts("cpu=3", "memory=4Gi", "pods=1")},
		{"SCH-060 init containers run one after another", pod("p", containers(container("a", "cpu=1")), initContainers(container("i", "cpu=2"), container("j", "cpu=2"))),
			amounts("cpu=2", "pods=1")},
		{"SCH-060 sidecars run next to the containers", pod("p", containers(container("a", "cpu=1")), initContainers(sidecar("s", "cpu=1"), sidecar("t", "cpu=500m"))),
			amounts("cpu=2500m", "pods=1")},
		{"SCH-060 an init container runs next to the sidecars before it", pod("p", containers(container("a", "cpu=1")), initContainers(sidecar("s", "cpu=1"), container("i", "cpu=3"))),
			amounts("cpu=4", "pods=1")},
		{"SCH-060 but not next to those after it", pod("p", containers(container("a", "cpu=1")), initContainers(container("i", "cpu=3"), sidecar("s", "cpu=1"))),
			amounts("cpu=3", "pods=1")},
		{"SCH-060 pod-level requests replace cpu, memory and hugepages, no other", pod("p",
			containers(container("a", "cpu=1", "memory=1Gi", "hugepages-2Mi=2Mi", "example.com/gpu=1")),
			podLevel("cpu=3", "memory=512Mi", "hugepages-2Mi=4Mi", "example.com/gpu=7")),
			amounts("cpu=3", "memory=512Mi", "hugepages-2Mi=4Mi", "example.com/gpu=1", "pods=1")},
		{"SCH-060 overhead comes last", pod("p", containers(container("a", "cpu=1")), podLevel("cpu=2"), overhead("cpu=250m", "memory=120Mi")),
			amounts("cpu=2250m", "memory=120Mi", "pods=1")},
		{"SCH-061 a resize upwards counts as wanted", pod("p", containers(container("a", "cpu=3")), running("a", amounts("cpu=1"), amounts("cpu=2"))),
			amounts("cpu=3", "pods=1")},
		{"SCH-061 a resize downwards counts as held", pod("p", containers(container("a", "cpu=1", "memory=1Gi")), running("a", amounts("cpu=3"), amounts("memory=2Gi"))),
			amounts("cpu=3", "memory=2Gi", "pods=1")},
		{"SCH-061 an infeasible wish does not count", pod("p", containers(container("a", "cpu=64")), running("a", amounts("cpu=1"), amounts("cpu=2")), infeasible),
			amounts("cpu=2", "pods=1")},
		{"SCH-061 other containers are as in the spec", pod("p", containers(container("a", "cpu=64"), container("b", "cpu=1")), running("a", amounts("cpu=1"), nil), infeasible),
			amounts("cpu=2", "pods=1")},
		{"SCH-061 pod-level requests count as in the spec", pod("p", containers(container("a", "cpu=1")), running("a", amounts("cpu=4"), nil), podLevel("cpu=2")),
			amounts("cpu=2", "pods=1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := c.pod.DeepCopy()
			equal := cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
			if diff := cmp.Diff(c.want, scheduling.PodRequests(c.pod), equal); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, c.pod); diff != "" {
				t.Errorf("the pod was changed (-before +after):\n%s", diff)
			}
			// The same through the planner: the requests of a node for that pod alone.
			p := solve(t, cluster(c.pod, typeOf("huge", 9, "cpu=96", "memory=96Gi", "hugepages-2Mi=8Mi", "example.com/gpu=8")))
			if len(p.NewNodes) != 1 {
				t.Fatalf("not placed: %v", p.Unschedulable)
			}
			if diff := cmp.Diff(c.want, p.NewNodes[0].Requests, equal); diff != "" {
				t.Errorf("requests of the node (-want +got):\n%s", diff)
			}
		})
	}
}

// SCH-062: the fit test.
func TestFit(t *testing.T) {
	gpuNode := node("n", allocatable("cpu=4", "memory=16Gi", "example.com/gpu=1"))
	for _, c := range []struct {
		name string
		node scheduling.Node
		pod  *corev1.Pod
		want bool
	}{
		{"exactly all there is", node("n"), pod("p", requests("cpu=4", "memory=16Gi")), true},
		{"a millicore too much", node("n"), pod("p", requests("cpu=4001m")), false},
		{"a byte too much", node("n"), pod("p", requests("memory=17179869185")), false},
		{"a fraction of a millicore is rounded up", node("n"), pod("p", requests("cpu=4000100u")), false},
		{"a resource the node lacks", node("n"), pod("p", requests("example.com/gpu=1")), false},
		{"an explicit zero of a resource the node lacks", node("n"), pod("p", requests("cpu=1", "example.com/gpu=0")), true},
		{"an extended resource", gpuNode, pod("p", requests("example.com/gpu=1")), true},
		{"no slot for a pod", node("n", func(n *scheduling.Node) { n.Object.Status.Allocatable["pods"] = resource.MustParse("0") }), pod("p"), false},
		{"what is bound is taken", node("n", bound(pod("b", requests("cpu=3")))), pod("p", requests("cpu=1001m")), false},
		{"what is left can be had", node("n", bound(pod("b", requests("cpu=3")))), pod("p", requests("cpu=1")), true},
		{"a finished pod takes nothing", node("n", bound(pod("b", requests("cpu=3"))), func(n *scheduling.Node) { n.Pods[0].Status.Phase = corev1.PodSucceeded }),
			pod("p", requests("cpu=4")), true},
		{"overcommitted in what the pod asks for", node("n", bound(pod("b", requests("memory=17Gi")))), pod("p", requests("cpu=1", "memory=1")), false},
		{"overcommitted in memory that the pod does not ask for", node("n", bound(pod("b", requests("memory=17Gi")))), pod("p", requests("cpu=1")), true},
		{"overcommitted in CPU that the pod does not ask for", node("n", bound(pod("b", requests("cpu=5")))), pod("p", requests("memory=1Gi")), true},
		{"overcommitted by an extended resource", node("n", bound(pod("b", requests("example.com/gpu=1")))), pod("p", requests("cpu=1")), true},
		{"overcommitted by an extended resource of which the pod asks for zero", node("n", bound(pod("b", requests("example.com/gpu=1")))),
			pod("p", requests("cpu=1", "example.com/gpu=0")), true},
		{"overcommitted in pods, which every pod counts as", node("n", func(n *scheduling.Node) { n.Object.Status.Allocatable["pods"] = resource.MustParse("1") },
			bound(pod("b")), bound(pod("c"))), pod("p"), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "nowhere"
			if c.want {
				want = "on n"
			}
			wantPlace(t, solve(t, cluster(nodePool("none", catalogOf("")), c.node, c.pod)), "p", want)
		})
	}
}

// SCH-062: a node whose DaemonSets ask for more than it has is not launched, even for a pod that needs none of it.
func TestNewMachineOvercommittedByDaemons(t *testing.T) {
	p := solve(t, cluster(daemonSet("agent", []string{"memory=10Gi"}), pod("p", requests("cpu=1"))))
	n := newNodeOf(t, p, "p")
	for _, o := range n.InstanceTypes {
		if o.Name == "small" {
			t.Errorf("small has 8Gi, the DaemonSet asks for 10Gi: %v", n.InstanceTypes)
		}
	}
}
