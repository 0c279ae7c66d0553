package kubelet_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/drawknife/drawknife/examples/controller/kubelet"
)

// Annotations by which the scheduler and the volume binder ask for a volume.
const (
	selectedNode = "volume.kubernetes.io/selected-node"
	provisioner  = "volume.kubernetes.io/storage-provisioner"
)

// asked is a claim of a class that a volume was asked for.
func asked(name, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{provisioner: kubelet.StorageDriver}},
		Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: &class, Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceStorage: resource.MustParse("1Gi"),
		}}},
	}
}

func class(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: kubelet.StorageDriver}
}

// provisioned reports whether the claim has a volume.
func provisioned(t *testing.T, client kubernetes.Interface, claim string) func() bool {
	return func() bool {
		list, err := client.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
		return err == nil && slices.ContainsFunc(list.Items, func(v corev1.PersistentVolume) bool { return v.Spec.ClaimRef.Name == claim })
	}
}

// TestClassSeenAfterItsClaim has a claim seen before the class it is of: nothing else happens to the claim that would have it looked
// at again.
func TestClassSeenAfterItsClaim(t *testing.T) {
	early, late := asked("early", "later"), asked("late", "there")
	early.UID, late.UID = "early", "late"
	client := fake.NewClientset(early, class("there"))
	start(t, client)
	// One worker looks at claims in the order in which they come: once a later one has its volume, the early one was looked at.
	if _, err := client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), late, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the late claim has a volume", provisioned(t, client, "late"))
	if _, err := client.StorageV1().StorageClasses().Create(t.Context(), class("later"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the early claim has a volume", provisioned(t, client, "early"))
}

// TestSelectedNodeGone has the node that kube-scheduler chose for a claim gone before there is a volume: it is to choose again.
func TestSelectedNodeGone(t *testing.T) {
	claim := asked("data", "disk")
	claim.Annotations[selectedNode] = "gone"
	client := fake.NewClientset(claim, class("disk"))
	start(t, client)
	eventually(t, "the claim is given back", func() bool {
		got, err := client.CoreV1().PersistentVolumeClaims("default").Get(t.Context(), "data", metav1.GetOptions{})
		return err == nil && got.Annotations[selectedNode] == "" && got.Annotations[provisioner] == kubelet.StorageDriver
	})
}

// ready reports whether the node with a provider ID is there and ready.
func ready(t *testing.T, client kubernetes.Interface, name, providerID string) func() bool {
	return func() bool {
		n, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && n.Spec.ProviderID == providerID && slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
	}
}

// TestNodeOfTheNameGoes has a node of the name end while a kubelet registers: it is there when the kubelet creates its own, and gone
// when the kubelet reads it.
func TestNodeOfTheNameGoes(t *testing.T) {
	client := fake.NewClientset()
	var refused atomic.Bool
	client.PrependReactor("create", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refused.CompareAndSwap(false, true) {
			return true, nil, apierrors.NewAlreadyExists(corev1.Resource("nodes"), "node")
		}
		return false, nil, nil
	})
	start(t, client).Boot(node("node"), kubelet.Behaviour{})
	eventually(t, "the node is ready", ready(t, client, "node", ""))
}

// TestNodeOfAnotherInstance has an instance boot while the node of an earlier one of its name is still there: it does not take it for
// its own.
func TestNodeOfAnotherInstance(t *testing.T) {
	before, after := node("node"), node("node")
	before.Spec.ProviderID, after.Spec.ProviderID = "fake:///a/node", "fake:///b/node"
	client := fake.NewClientset(before)
	var looked atomic.Bool
	client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		looked.Store(true)
		return false, nil, nil
	})
	start(t, client).Boot(after, kubelet.Behaviour{})
	eventually(t, "the kubelet has seen that its name is taken", looked.Load)
	if err := client.CoreV1().Nodes().Delete(t.Context(), "node", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node is the second instance's", ready(t, client, "node", "fake:///b/node"))
}

// TestDriversOfAnEarlierNode has the CSINode of an earlier node of the name still there, which is about to be collected as garbage.
func TestDriversOfAnEarlierNode(t *testing.T) {
	client := fake.NewClientset(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{
		Name: "node", UID: "old", OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "node", UID: "gone"}},
	}})
	start(t, client).Boot(node("node"), kubelet.Behaviour{})
	eventually(t, "the drivers are the new node's", func() bool {
		got, err := client.StorageV1().CSINodes().Get(t.Context(), "node", metav1.GetOptions{})
		return err == nil && got.OwnerReferences[0].UID != "gone"
	})
}

// TestYoungCluster has the namespace of leases come after the first kubelet.
func TestYoungCluster(t *testing.T) {
	client := fake.NewClientset()
	var refused atomic.Bool
	client.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		if refused.CompareAndSwap(false, true) {
			return true, nil, apierrors.NewNotFound(corev1.Resource("namespaces"), corev1.NamespaceNodeLease)
		}
		return false, nil, nil
	})
	start(t, client).Boot(node("node"), kubelet.Behaviour{})
	eventually(t, "the node is ready", ready(t, client, "node", ""))
}

// TestNamesakeOfRemovedPod has the node of a pod deleted whose name another pod has by then: the kubelet is done with it, and does
// not ask for its end for ever.
func TestNamesakeOfRemovedPod(t *testing.T) {
	old, young := bound("web-0", "node"), bound("web-0", "other")
	old.UID, young.UID = "old", "young"
	old.Status.Phase, young.Status.Phase = corev1.PodRunning, corev1.PodRunning
	client := fake.NewClientset(old)
	var asked, answered atomic.Int32
	client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked.Add(1)
		return true, nil, apierrors.NewConflict(corev1.Resource("pods"), "web-0", nil)
	})
	client.PrependReactor("get", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		answered.Add(1)
		return true, young, nil
	})
	s := start(t, client)
	s.Boot(node("node"), kubelet.Behaviour{})
	eventually(t, "the node is ready", ready(t, client, "node", ""))
	if err := client.CoreV1().Nodes().Delete(t.Context(), "node", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kubelet has seen whose the name is", func() bool { return answered.Load() > 0 })
	if n := asked.Load(); n != 1 {
		t.Errorf("it has asked %d times", n)
	}
}

// TestNodeHeardOfAgain has the node lifecycle controller say of a node and its pod that nothing is heard of them, and then lets the
// kubelet's next heartbeat through.
func TestNodeHeardOfAgain(t *testing.T) {
	running := bound("web-0", "node")
	client := fake.NewClientset(running)
	s, err := kubelet.Start(t.Context(), client, kubelet.Options{Heartbeat: new(10 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	s.Boot(node("node"), kubelet.Behaviour{})
	podReady := func() bool {
		pod, err := client.CoreV1().Pods(running.Namespace).Get(t.Context(), running.Name, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
	}
	eventually(t, "the node is ready", ready(t, client, "node", ""))
	eventually(t, "the pod is ready", podReady)
	lost, err := client.CoreV1().Nodes().Get(t.Context(), "node", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lost.Status.Conditions {
		lost.Status.Conditions[i].Status = corev1.ConditionUnknown
	}
	if _, err := client.CoreV1().Nodes().UpdateStatus(t.Context(), lost, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod, err := client.CoreV1().Pods(running.Namespace).Get(t.Context(), running.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			c.Status = corev1.ConditionFalse
		}
	}
	if _, err := client.CoreV1().Pods(running.Namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node is ready again", ready(t, client, "node", ""))
	eventually(t, "the pod is ready again", podReady)
}
