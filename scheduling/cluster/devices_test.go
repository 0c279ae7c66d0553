package cluster_test

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling/cluster"
)

// SCH-191: what pods claim of devices and nodes publish is in the snapshot, and goes when it is deleted.
func TestDeviceObjects(t *testing.T) {
	s, err := cluster.New(cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	objects := []metav1.Object{
		&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "claim"}}, &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "template"}},
		&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}}, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice"}},
	}
	for _, deleted := range []bool{false, true} {
		want := 1
		if deleted {
			want = 0
		}
		for _, o := range objects {
			if err := s.Apply(cluster.Event{Object: o, Deleted: deleted}); err != nil {
				t.Fatal(err)
			}
		}
		got := s.Snapshot(cluster.Query{}).Snapshot
		if len(got.ResourceClaims) != want || len(got.ResourceClaimTemplates) != want || len(got.DeviceClasses) != want || len(got.ResourceSlices) != want {
			t.Errorf("deleted %t: %d claims, %d templates, %d classes, %d slices", deleted, len(got.ResourceClaims), len(got.ResourceClaimTemplates), len(got.DeviceClasses), len(got.ResourceSlices))
		}
	}
}
