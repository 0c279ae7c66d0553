package replay

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// publishedSlices returns the slices that drivers publish on a node of the type, with counters in a separate slice.
func publishedSlices(it *cloudprovider.InstanceType, node *corev1.Node) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, pool := range cloudprovider.BindDevices(it.Devices, func(key string) string { return node.Labels[key] }) {
		slice := &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{
				Name:            node.Name + "-" + pool.Driver + pool.Suffix,
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
			},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: pool.Driver, NodeName: &node.Name, Pool: resourcev1.ResourcePool{Name: node.Name + pool.Suffix, Generation: 1, ResourceSliceCount: 1},
			},
		}
		if len(pool.SharedCounters) > 0 {
			slice.Spec.Pool.ResourceSliceCount = 2
			counters := slice.DeepCopy()
			counters.Name += "-counters"
			counters.Spec.SharedCounters = pool.SharedCounters
			out = append(out, counters)
		}
		slice.Spec.Devices = pool.Devices
		out = append(out, slice)
	}
	return out
}
