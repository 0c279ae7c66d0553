package snapshots

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	immediateClass = "immediate"
	byHandClass    = "by-hand"
)

// handMade makes a class that binds immediately and a class with manually created volumes. It also makes volumes of the second class.
func (m *maker) handMade() {
	immediate, wait := storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer
	m.s.StorageClasses = append(m.s.StorageClasses,
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: immediateClass}, Provisioner: driver, VolumeBindingMode: &immediate},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: byHandClass}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait},
	)
	m.s.PersistentVolumes = append(m.s.PersistentVolumes, list(m, "free volumes", 1, 6, func() *corev1.PersistentVolume {
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: m.name("pv-by-hand")}}
		pv.Spec = corev1.PersistentVolumeSpec{
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: amount(choose(m, "size", "1Gi", "2Gi", "500Mi"))},
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: byHandClass,
		}
		pv.Status.Phase = corev1.VolumeAvailable
		key, value := zoneKey, choose(m, "zone of volume", m.zones...)
		if m.has(Nodes) && m.chance("local", 40) {
			key, value = hostnameKey, fmt.Sprintf("node-%d", m.number("node of volume", 0, 3))
			pv.Spec.Local = &corev1.LocalVolumeSource{Path: "/disk"}
		} else {
			pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: pv.Name}
		}
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}}}}
		return pv
	})...)
}

// classes returns the storage classes for pending claims.
func (m *maker) classes() []string {
	classes := []string{"all-zones", "anywhere", "one-zone", "either-zone"}
	if m.has(HandMade) {
		classes = append(classes, byHandClass, immediateClass)
	}
	return classes
}
