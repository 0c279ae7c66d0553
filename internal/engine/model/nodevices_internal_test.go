package model

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// asked fails if anybody asks it.
type asked struct{ *testing.T }

func (a asked) Matches(string, string, *resourcev1.Device) (bool, error) {
	a.Error("a selector is evaluated")
	return false, nil
}

// A cluster without claims pays nothing for devices, whatever instance types, classes and slices it has: no index is made of them, which leaves one check in
// each place that reads it, and these neither allocate nor change anything.
func TestNothingIsPaidForDevicesWithoutClaims(t *testing.T) {
	node := "n"
	it := &cloudprovider.InstanceType{
		Name: "t", Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("10")},
		Offerings: []cloudprovider.Offering{{Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "a"), requirements.In(v1.CapacityTypeLabelKey, "spot")), Price: 1, Available: true}},
		Devices:   []cloudprovider.DevicePool{{Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0"}}}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	resourceName := "example.com/gpu"
	selecting := []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}}
	s := &planning.Snapshot{
		Vocabulary: requirements.CoreVocabulary(), Pods: []*corev1.Pod{pod},
		Catalogs:      map[string][]*cloudprovider.InstanceType{"types": {it}},
		NodePools:     []planning.NodePool{{Key: v1.NewPoolKey("default"), Object: &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, Catalog: "types"}},
		Nodes:         []planning.Node{{Name: node, Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}}},
		DeviceClasses: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{Selectors: selecting, ExtendedResourceName: &resourceName}}},
		ResourceSlices: []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1}, Devices: []resourcev1.Device{{Name: "gpu-0"}},
		}}},
	}
	m, err := Compile(s, WithDeviceMatcher(asked{t}))
	if err != nil {
		t.Fatal(err)
	}
	x := m.Devices
	if x != nil {
		t.Fatal("there is an index of devices")
	}
	room := make([]int64, m.Resources.Len())
	free := testing.AllocsPerRun(100, func() {
		x.RoomOfType(it, &it.Offerings[0], room)
		x.MostOfType(it, &it.Offerings[0], room)
		x.RoomOfNode(node, nil, room)
		x.AddDaemon(pod, room)
		x.ServedBy(nil, nil, nil)
		_ = x.Has(&s.Nodes[0]) || x.Concerns(pod) || !x.Stand(s) || x.Reads() != nil
	})
	if free > 0 {
		t.Errorf("%v allocations", free)
	}
	for d, n := range room {
		if n != 0 {
			t.Errorf("%d of %s", n, m.Resources.Names[d])
		}
	}
}
