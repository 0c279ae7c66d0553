package reconcilers

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// claimGPUs is claimGPU for several GPUs of one node, by a claim of the pod's own.
func (w *world) claimGPUs(name string, count int64) {
	pod := newPod(name)
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimName: &name}}
	w.create(pod, &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
			{Name: "gpus", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count}},
		}}},
	})
}

// publishGPUs has the driver publish GPUs on a node.
func (w *world) publishGPUs(node string, names ...string) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "gpus-of-" + node}, Spec: resourcev1.ResourceSliceSpec{
		Driver: testDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
	}}
	for _, name := range names {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: name})
	}
	w.create(slice)
}

// A node has three GPUs where its type says two. The pool keeps that, an event, the log and a metric say so, and a pod that claims three gets a node: also in a
// process that starts when that node is gone. Without the annotation it is forgotten.
func TestDevicesAreLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var registry *prometheus.Registry
		options := func(o *Options) {
			registry = prometheus.NewRegistry()
			o.Features.Devices, o.DeviceMatcher, o.Metrics = true, ofTestDriver{}, registry
		}
		w := newWorldOf(t, gpuTypes(), options)
		w.claimGPU("first")
		w.watch()
		w.plan()
		w.live(30)
		node := w.allNodes()[0]
		w.publishGPUs(node.Name, "gpu-0", "gpu-1", "gpu-2")
		w.live(30)
		w.plan() // nobody else looks at the cluster in this test
		w.live(10)
		w.pool("default") // writes its status, and comes again for the rest
		kept := w.pool("default").Annotations[v1.LearnedDevicesAnnotationKey]
		if kept == "" {
			t.Fatal("the pool keeps nothing")
		}
		got := w.events("DevicesLearned NodePool/default")
		if len(got) != 1 || !strings.Contains(got[0], testDriver+" has published 3 devices in place of 2 devices") {
			t.Errorf("events %q", got)
		}
		if n := gauge(t, registry, "karpenter_nodepools_learned_device_types"); n != 1 {
			t.Errorf("the metric shows %v types", n)
		}

		// All of it goes, and the process, too.
		for _, o := range []client.Object{&resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "gpus-of-" + node.Name}}, newPod("first")} {
			if err := w.client.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
		for _, claim := range w.allClaims() {
			if err := w.client.Delete(t.Context(), claim); err != nil {
				t.Fatal(err)
			}
		}
		w.live(120)
		if left := len(w.allNodes()) + len(w.allClaims()); left > 0 {
			t.Fatalf("%d nodes and claims are left", left)
		}
		w.start(options)
		w.claimGPUs("second", 3)
		w.watch()
		w.plan()
		w.live(60)
		if len(w.allClaims()) != 1 {
			t.Fatalf("after the restart: %v", w.told)
		}
		if again := w.pool("default").Annotations[v1.LearnedDevicesAnnotationKey]; again != kept {
			t.Error("the restart changes what is kept")
		}
		if got := w.events("DevicesLearned NodePool/default"); len(got) != 1 {
			t.Errorf("it is said again: %q", got)
		}

		pool := w.pool("default")
		forgotten := pool.DeepCopy()
		delete(forgotten.Annotations, v1.LearnedDevicesAnnotationKey)
		if err := w.client.Patch(t.Context(), forgotten, client.MergeFrom(pool)); err != nil {
			t.Fatal(err)
		}
		w.claimGPUs("third", 3)
		w.live(10)
		w.plan()
		w.live(60)
		if got := w.pool("default").Annotations[v1.LearnedDevicesAnnotationKey]; got != "" || len(w.allClaims()) != 1 {
			t.Errorf("what is removed comes back: %d claims, %q", len(w.allClaims()), got)
		}
	})
}

// Without the feature nothing is learned and nothing kept.
func TestNothingIsLearnedWithoutDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, gpuTypes(), nil)
		w.create(newPod("plain"))
		w.watch()
		w.plan()
		w.live(30)
		w.publishGPUs(w.allNodes()[0].Name, "gpu-0", "gpu-1", "gpu-2")
		w.live(30)
		w.plan()
		w.live(10)
		if kept, there := w.pool("default").Annotations[v1.LearnedDevicesAnnotationKey]; there {
			t.Errorf("the pool keeps %q", kept)
		}
	})
}

// gauge is the value of a metric with one time series; 0 for none.
func gauge(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.GetMetric()[0].GetGauge().GetValue()
		}
	}
	return 0
}
