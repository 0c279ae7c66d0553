package scheduling_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// withVolume adds a bound claim and its volume.
func withVolume(s *scheduling.Snapshot, name string) {
	s.PersistentVolumes = append(s.PersistentVolumes, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name},
		Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: name}}}})
	s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
		Spec:   corev1.PersistentVolumeClaimSpec{VolumeName: "pv-" + name},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}})
}

func attachment(node, volume string) *storagev1.VolumeAttachment {
	pv := "pv-" + volume
	return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: node + "-" + volume},
		Spec: storagev1.VolumeAttachmentSpec{Attacher: driverName, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv}}}
}

func usingClaim(name string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
	}
}

// attachable limits the volumes of a node.
func attachable(s *scheduling.Snapshot, node string, most int32) {
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	csi.Spec.Drivers = []storagev1.CSINodeDriver{{Name: driverName, NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: &most}}}
	s.CSINodes = append(s.CSINodes, csi)
}

// kube-scheduler's NodeVolumeLimits counts what VolumeAttachments attach to the node besides the volumes of its pods.
func TestAttachedVolumesOfNobodyTakeRoom(t *testing.T) {
	for _, c := range []struct {
		name     string
		limit    int32
		attached []*storagev1.VolumeAttachment
		want     string
	}{
		{"none", 2, nil, "on n"},
		{"one that a pod of the node uses", 2, []*storagev1.VolumeAttachment{attachment("n", "b")}, "on n"},
		{"one that no pod uses", 2, []*storagev1.VolumeAttachment{attachment("n", "gone")}, "nowhere"},
		{"one that no pod uses, with room for three", 3, []*storagev1.VolumeAttachment{attachment("n", "gone")}, "on n"},
		{"twice the same", 3, []*storagev1.VolumeAttachment{attachment("n", "gone"), attachment("n", "gone")}, "on n"},
		{"of another node", 2, []*storagev1.VolumeAttachment{attachment("m", "gone")}, "on n"},
		{"of a volume that there is not", 2, []*storagev1.VolumeAttachment{attachment("n", "unknown")}, "on n"},
		{"the pod's own, which kube-scheduler counts as any other", 2, []*storagev1.VolumeAttachment{attachment("n", "p")}, "nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(nothingNew(), node("n", bound(pod("b", usingClaim("b")))), pod("p", usingClaim("p")))
			for _, name := range []string{"b", "p", "gone"} {
				withVolume(s, name)
			}
			attachable(s, "n", c.limit)
			s.VolumeAttachments = c.attached
			wantPlace(t, solve(t, s), "p", c.want)
		})
	}
}

// VolumeAttachments come and go with every pod that has volumes. Only those that take other room than before make Update
// compile again.
func TestUpdateWithOtherAttachments(t *testing.T) {
	s := cluster(nothingNew(), node("n", bound(pod("b", usingClaim("b")))), pod("p", usingClaim("p")))
	for _, name := range []string{"b", "p", "gone"} {
		withVolume(s, name)
	}
	attachable(s, "n", 2)
	m := compile(t, s)
	m, err := m.Update(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		attached []*storagev1.VolumeAttachment
		inPlace  bool
		want     string
	}{
		{[]*storagev1.VolumeAttachment{attachment("n", "b")}, true, "on n"},
		{[]*storagev1.VolumeAttachment{attachment("n", "b"), attachment("n", "gone")}, false, "nowhere"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			next := *s
			next.VolumeAttachments = c.attached
			if got := scheduling.UpdateInPlace(m, &next) != nil; got != c.inPlace {
				t.Errorf("updated in place: %v, want %v", got, c.inPlace)
			}
			again, err := m.Update(&next)
			if err != nil {
				t.Fatal(err)
			}
			p, err := again.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			wantPlace(t, p, "p", c.want)
		})
	}
}
