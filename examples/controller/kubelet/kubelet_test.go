package kubelet_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/drawknife/drawknife/examples/controller/kubelet"
)

// patience is how long a test waits for what has to come.
const patience = time.Minute

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("waited %s until %s", patience, what)
		}
	}
}

func bound(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "none"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

func runs(t *testing.T, client kubernetes.Interface, name string) func() bool {
	return func() bool {
		pod, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	}
}

// start starts a simulator that ends with the test.
func start(t *testing.T, client kubernetes.Interface) *kubelet.Simulator {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s, err := kubelet.Start(ctx, client, kubelet.Options{})
	t.Cleanup(func() {
		stop()
		if s != nil {
			s.Wait()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPodsThatAreThere has a pod bound to a node whose kubelet starts after the simulator has seen, and passed over, that pod: as
// when a process takes over the simulated nodes of another, between whose ends kube-scheduler went on.
func TestPodsThatAreThere(t *testing.T) {
	client := fake.NewClientset(bound("early", "first"))
	s := start(t, client)
	// Events are worked on in the order in which they come: once a later pod runs, the early one was looked at.
	s.Boot(node("second"), kubelet.Behaviour{})
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), bound("late", "second"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the late pod runs", runs(t, client, "late"))
	s.Boot(node("first"), kubelet.Behaviour{})
	eventually(t, "the early pod runs", runs(t, client, "early"))
}

// TestHangingKubelet has a kubelet hang while a pod is told to end; when it works again, the pod goes.
func TestHangingKubelet(t *testing.T) {
	ending := bound("ending", "node")
	ending.Status.Phase = corev1.PodRunning
	ending.DeletionTimestamp, ending.DeletionGracePeriodSeconds, ending.Finalizers = new(metav1.Now()), new(int64(0)), []string{"example.com/held"}
	client := fake.NewClientset(ending)
	s := start(t, client)
	s.Boot(node("node"), kubelet.Behaviour{HoldsPods: true})
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), bound("late", "node"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the late pod runs", runs(t, client, "late"))
	if _, err := client.CoreV1().Pods("default").Get(t.Context(), "ending", metav1.GetOptions{}); err != nil {
		t.Fatalf("while its kubelet hangs the pod that is told to end is away: %v", err)
	}
	s.SetBehaviour("node", kubelet.Behaviour{})
	eventually(t, "the pod has gone", func() bool {
		_, err := client.CoreV1().Pods("default").Get(t.Context(), "ending", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}
