package daemonset_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
)

func owned(name string, born int64, cpu string) *corev1.Pod {
	return build.Pod(name, build.CPU(cpu), build.On("n"), build.Created(time.Unix(born, 0)), build.OwnedBy("apps/v1", "DaemonSet", "d"))
}

// The newest pod that is not being deleted says what the DaemonSet's pods ask for; without one, the template does.
func TestRepresentative(t *testing.T) {
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{UID: "uid-d"}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}}}
	gone := owned("gone", 9, "9")
	gone.DeletionTimestamp = &metav1.Time{}
	bystander := &corev1.Pod{}
	for _, c := range []struct {
		name string
		pods []*corev1.Pod
		want string
	}{
		{"newest", []*corev1.Pod{owned("old", 1, "1"), owned("new", 2, "2"), gone, bystander}, "2"},
		{"of equal age the last by name", []*corev1.Pod{owned("b", 1, "1"), owned("a", 1, "2")}, "1"},
		{"template, limits taken for requests", []*corev1.Pod{gone}, "3"},
	} {
		pod := daemonset.Representative(set, daemonset.Newest([][]*corev1.Pod{daemonset.Standing(c.pods)}))
		if got := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); got != c.want || pod.Spec.NodeName != "" {
			t.Errorf("%s: %s CPU on node %q, want %s on none", c.name, got, pod.Spec.NodeName, c.want)
		}
		if taint := match.Untolerated(pod.Spec.Tolerations, []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}, true); taint != nil {
			t.Errorf("%s: does not come to cordoned nodes", c.name)
		}
	}
}

// Where a DaemonSet runs is a union of products: of each alternative the variants and the slots.
func TestMasks(t *testing.T) {
	offer := func(zone string) cloudprovider.Offering {
		return cloudprovider.Offering{Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, zone)), Price: 1, Available: true}
	}
	c := market.NewCatalog("c", []*cloudprovider.InstanceType{
		{Name: "x", Requirements: requirements.NewSet(requirements.In("arch", "amd64")), Offerings: []cloudprovider.Offering{offer("a"), offer("b")}},
		{Name: "y", Requirements: requirements.NewSet(requirements.In("arch", "arm64")), Offerings: []cloudprovider.Offering{offer("a"), offer("b")}},
	})
	sets := []daemonset.Set{
		{Terms: []match.Needs{{requirements.In("arch", "amd64")}, {requirements.In(corev1.LabelTopologyZone, "b")}}},
		{Terms: []match.Needs{{requirements.In("team", "other")}}},
		{Terms: []match.Needs{{}}},
	}
	taint := []corev1.Taint{{Key: "x", Effect: corev1.TaintEffectNoSchedule}}
	carried := requirements.NewSet(requirements.In("team", "mine"))
	masks := daemonset.Masks(sets, carried, nil, c)
	if len(masks) != 2 || masks[0].Number != 0 || masks[1].Number != 2 {
		t.Fatalf("masks are %v", masks)
	}
	for _, at := range [][2]int{{0, 0}, {0, 1}, {1, 1}} {
		if !masks[0].RunsAt(at[0], at[1]) {
			t.Errorf("does not run on variant %d in slot %d", at[0], at[1])
		}
	}
	if masks[0].RunsAt(1, 0) {
		t.Error("runs on arm64 in zone a")
	}
	if none := daemonset.Masks(sets, carried, taint, c); none != nil {
		t.Errorf("tolerates a taint: %v", none)
	}
	if !sets[0].BelongsOn(requirements.NewSet(requirements.In("arch", "amd64")), nil) || sets[0].BelongsOn(carried, taint) {
		t.Error("belongs where labels and taints say")
	}
}
