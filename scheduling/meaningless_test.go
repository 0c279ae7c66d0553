package scheduling_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// What no API server and no cloud says is refused with the place of the field, instead of planned with in silence.
func TestCompileRefusesWhatCannotBe(t *testing.T) {
	minusOne := resource.MustParse("-1")
	for name, c := range map[string]struct {
		change func(s *scheduling.Snapshot, types []*cloudprovider.InstanceType)
		path   string
	}{
		"negative capacity": {func(_ *scheduling.Snapshot, types []*cloudprovider.InstanceType) {
			types[0].Capacity = corev1.ResourceList{corev1.ResourceCPU: minusOne}
		}, "catalogs[types][0].capacity[cpu]"},
		"negative overhead": {func(_ *scheduling.Snapshot, types []*cloudprovider.InstanceType) {
			types[0].Overhead.KubeReserved = corev1.ResourceList{corev1.ResourceCPU: minusOne}
		}, "catalogs[types][0].overhead.kubeReserved[cpu]"},
		"negative limit": {func(s *scheduling.Snapshot, _ []*cloudprovider.InstanceType) {
			s.NodePools[0].Object = s.NodePools[0].Object.DeepCopy()
			s.NodePools[0].Object.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: minusOne}
		}, "nodePools[0].object.spec.limits[cpu]"},
		"free on-demand": {func(_ *scheduling.Snapshot, types []*cloudprovider.InstanceType) {
			for i := range types[0].Offerings {
				if types[0].Offerings[i].CapacityType() == v1.CapacityTypeOnDemand {
					types[0].Offerings[i].Price = 0
				}
			}
		}, "price"},
		"negative skew": {func(s *scheduling.Snapshot, _ []*cloudprovider.InstanceType) {
			s.Pods[0].Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{TopologyKey: "a", MaxSkew: -1, WhenUnsatisfiable: corev1.DoNotSchedule}}
		}, "pods[0].spec.topologySpreadConstraints[0].maxSkew"},
		"spread without a key": {func(s *scheduling.Snapshot, _ []*cloudprovider.InstanceType) {
			s.Pods[0].Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}}
		}, "pods[0].spec.topologySpreadConstraints[0].topologyKey"},
	} {
		t.Run(name, func(t *testing.T) {
			s := workload.Mixed(5, 1)
			var catalog string
			for catalog = range s.Catalogs {
			}
			types := s.Catalogs[catalog]
			s.Catalogs = map[string][]*cloudprovider.InstanceType{"types": types}
			for i := range s.NodePools {
				s.NodePools[i].Catalog = "types"
			}
			c.change(s, types)
			_, err := scheduling.Compile(s)
			var refused *scheduling.SnapshotError
			if !errors.As(err, &refused) || refused.Path != c.path && (c.path != "price" || refused.Rule != "is 0, but the offering is on-demand") {
				t.Errorf("got %v, want a *SnapshotError of %s", err, c.path)
			}
		})
	}
}
