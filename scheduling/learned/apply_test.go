package learned_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/learned"
)

// Corrected types are others, the same from one snapshot to the next; those of the provider and of other pools stay as they are.
func TestApply(t *testing.T) {
	s := fleet(gpus(1, "24Gi")...)
	large := s.Catalogs["all"][1]
	large.Capacity = corev1.ResourceList{cloudprovider.DeviceCount(driver): resource.MustParse("1"), "cpu": resource.MustParse("4")}
	large.Devices = append(large.Devices, cloudprovider.DevicePool{Driver: "nic.example.com", Devices: []resourcev1.Device{{Name: "nic-0"}}})
	s.NodePools = append(s.NodePools, scheduling.NodePool{Object: &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, Catalog: "all"})
	join(s, "a", gpus(2, "22Gi")...)
	var corrector learned.Corrector
	types := func() (ofDefault, ofOther []*cloudprovider.InstanceType) {
		next := *s
		corrections, problems := corrector.Learn(&next)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		corrector.Apply(&next, corrections)
		return next.Catalogs[next.NodePools[0].Catalog], next.Catalogs[next.NodePools[1].Catalog]
	}
	ofDefault, ofOther := types()
	if &ofOther[0] != &s.Catalogs["all"][0] || ofDefault[0] != s.Catalogs["all"][0] || ofDefault[1] == large {
		t.Fatal("other types are changed than the pool's that has the node")
	}
	got := ofDefault[1]
	if n := got.Capacity[cloudprovider.DeviceCount(driver)]; n.Value() != 2 || len(got.Devices) != 2 || len(got.Devices[0].Devices) != 2 || got.Devices[1].Driver != "nic.example.com" {
		t.Errorf("corrected: %v, %+v", got.Capacity, got.Devices)
	}
	if n := large.Capacity[cloudprovider.DeviceCount(driver)]; n.Value() != 1 || len(large.Devices[0].Devices) != 1 {
		t.Error("the provider's type is changed")
	}
	again, _ := types()
	if &again[0] != &ofDefault[0] {
		t.Error("the list is another one the second time")
	}
	join(s, "b", gpus(3, "22Gi")...)
	join(s, "c", gpus(3, "22Gi")...)
	later, _ := types()
	if later[1] == got || len(later[1].Devices[0].Devices) != 3 {
		t.Error("what has been learned since is not applied")
	}
	if before := *s; true {
		corrector.Apply(&before, nil)
		if diff := cmp.Diff(s.NodePools, before.NodePools); diff != "" || &before.Catalogs["all"][0] != &s.Catalogs["all"][0] {
			t.Error("no corrections change something")
		}
	}
	corrector.Apply(nil, nil)
	if got, problems := corrector.Learn(nil); got != nil || problems != nil {
		t.Error("something is learned of nothing")
	}
}

// Plans count on what nodes have: a pod that claims two devices of a type that says one gets a node once one has been seen with two, and no further nodes are
// launched for one that claims three once two nodes have shown that there are fewer than the type says.
func TestPlansAreCorrected(t *testing.T) {
	plan := func(stated int, claimed int64, published ...int) int {
		types := fake.GenericTypes(2)[1:]
		types[0].Devices = []cloudprovider.DevicePool{{Driver: driver, Devices: gpus(stated, "24Gi")}}
		pool := build.Pool("default")
		s := &scheduling.Snapshot{
			Time: start, Catalogs: map[string][]*cloudprovider.InstanceType{"all": types}, NodePools: []scheduling.NodePool{{Object: pool, Catalog: "all"}},
			DeviceClasses: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
		}
		for i, n := range published {
			node := join(s, string(rune('a'+i)), gpus(n, "24Gi")...)
			node.Object.Labels[corev1.LabelInstanceTypeStable] = types[0].Name
			node.Object.Spec.Unschedulable = true
		}
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gpus"}}
		claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpus", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: claimed,
		}}}
		s.ResourceClaims = []*resourcev1.ResourceClaim{claim}
		pod := build.Pod("pod")
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimName: &claim.Name}}
		claim.Namespace = pod.Namespace
		s.Pods = []*corev1.Pod{pod}
		var corrector learned.Corrector
		corrections, problems := corrector.Learn(s)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		corrector.Apply(s, corrections)
		model, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		out, err := model.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return len(out.NewNodes)
	}
	for _, c := range []struct {
		name      string
		stated    int
		claimed   int64
		published []int
		want      int
	}{
		{"two claimed of one", 1, 2, nil, 0},
		{"a node has two", 1, 2, []int{2}, 1},
		{"three claimed of three", 3, 3, nil, 1},
		{"a node has two of them", 3, 3, []int{2}, 1},
		{"two nodes have two of them", 3, 3, []int{2, 2}, 0},
	} {
		if got := plan(c.stated, c.claimed, c.published...); got != c.want {
			t.Errorf("%s: %d new nodes, want %d", c.name, got, c.want)
		}
	}
}
