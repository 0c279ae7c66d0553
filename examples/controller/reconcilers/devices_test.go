package reconcilers

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

const testDriver = "gpu.example.com"

// ofTestDriver knows one expression.
type ofTestDriver struct{}

func (ofTestDriver) Matches(expression, driver string, _ *resourcev1.Device) (bool, error) {
	return expression == "device.driver == '"+driver+"'", nil
}

// gpuTypes are generic types, of which those of eight processors and more have two GPUs.
func gpuTypes() []*cloudprovider.InstanceType {
	types := fake.GenericTypes(8)
	for _, it := range types {
		if cpu := it.Capacity[corev1.ResourceCPU]; cpu.Value() >= 8 {
			it.Devices = []cloudprovider.DevicePool{{Driver: testDriver, Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1"}}}}
		}
	}
	return types
}

// claimGPU makes the class, the template and a pod that claims a GPU.
func (w *world) claimGPU(name string) {
	template := "gpu"
	pod := newPod(name)
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
	w.create(pod,
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{
			{CEL: &resourcev1.CELDeviceSelector{Expression: "device.driver == '" + testDriver + "'"}},
		}}},
		&resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: template}, Spec: resourcev1.ResourceClaimTemplateSpec{
			Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
				{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}},
			}}},
		}})
}

// A pod that claims a GPU gets a node with one, which is initialised once the driver has published; until then the claim and an event name the driver. A
// process that restarts knows what is waited for.
func TestNodesWaitForDrivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := func(o *Options) { o.Features.Devices, o.DeviceMatcher = true, ofTestDriver{} }
		w := newWorldOf(t, gpuTypes(), options)
		w.claimGPU("inference")
		w.watch()
		w.plan()
		w.live(60)
		claims := w.allClaims()
		if len(claims) != 1 || claims[0].Annotations[v1.RequestedDRADriversAnnotationKey] != testDriver {
			t.Fatalf("want one claim that waits for %s, got %+v", testDriver, claims)
		}
		nodes := w.allNodes()
		if len(nodes) != 1 {
			t.Fatalf("%d nodes", len(nodes))
		}
		initialized := func() metav1.Condition { return w.allClaims()[0].Conditions().Get(v1.ConditionInitialized) }
		if got := initialized(); got.Status != metav1.ConditionUnknown || got.Reason != "DRADriverPoolsNotPublished" || !strings.Contains(got.Message, testDriver) {
			t.Errorf("before the driver has published: %+v", got)
		}
		w.start(options)
		w.live(700)
		if got := w.events("DeviceDriverMissing NodeClaim/" + claims[0].Name); len(got) == 0 {
			t.Errorf("after ten minutes: %v", w.told)
		}
		w.create(&resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "gpus"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: testDriver, NodeName: &nodes[0].Name, Pool: resourcev1.ResourcePool{Name: nodes[0].Name, Generation: 1, ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1"}},
		}})
		w.live(30)
		if got := initialized(); got.Status != metav1.ConditionTrue {
			t.Errorf("after the driver has published: %+v", got)
		}
	})
}

// Without the feature the kinds are not read, and a claim that names drivers, Karpenter's perhaps, waits for none.
func TestWithoutDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOf(t, gpuTypes(), nil)
		for _, kind := range w.feed.kinds {
			if kind.kind == cluster.KindResourceSlice || kind.kind == cluster.KindDeviceClass {
				t.Errorf("%s is watched", kind.kind)
			}
		}
		w.claimGPU("inference")
		w.watch()
		w.plan()
		if got := w.events("FailedScheduling Pod/inference"); len(got) != 1 {
			t.Errorf("events %v", w.told)
		}
		if len(w.allClaims()) > 0 {
			t.Error("an instance is launched")
		}
	})
}

// noKinds is a mapper of an API server without some kinds, or that does not answer.
type noKinds struct {
	meta.RESTMapper
	without string
	err     error
}

func (m noKinds) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if kind.Kind == m.without {
		return nil, &meta.NoKindMatchError{GroupKind: kind, SearchedVersions: versions}
	}
	return &meta.RESTMapping{}, m.err
}

// Devices are off, without an error, where the API server does not serve one of the kinds; an API server that does not answer is an error.
func TestDevicesNeedTheirKinds(t *testing.T) {
	for name, c := range map[string]struct {
		mapper noKinds
		want   bool
		err    bool
	}{
		"served":          {noKinds{}, true, false},
		"no slices":       {noKinds{without: "ResourceSlice"}, false, false},
		"no classes":      {noKinds{without: "DeviceClass"}, false, false},
		"does not answer": {noKinds{err: errors.New("connection refused")}, true, true},
	} {
		o := Options{Features: Features{Devices: true}, Logger: slog.New(slog.DiscardHandler)}
		if err := o.checkDevices(c.mapper); (err != nil) != c.err || o.Features.Devices != c.want {
			t.Errorf("%s: %t, %v", name, o.Features.Devices, err)
		}
	}
}
