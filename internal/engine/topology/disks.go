package topology

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// For disks that a pod names itself, without a PersistentVolumeClaim, the rules of kube-scheduler's plugin VolumeRestrictions apply. Two
// pods of one node may use the same disk only if both pods only read it. For an EBS disk, even shared reading is not allowed. Volumes of
// claims are not checked, because their access modes are properties of the storage. Each disk is a group with anti-affinity by node: pods
// that write to the disk exclude all other pods that use it.

// diskGroups adds a group for each disk to which the pod can write.
func diskGroups(spec *corev1.PodSpec, add func(Group)) {
	for _, d := range volumes.Disks(spec) {
		if d.Writes {
			add(Group{Kind: Anti, Key: corev1.LabelHostname, Hard: true, Weight: 100, Disk: d.Name})
		}
	}
}

// usesDisk reports whether the pod names the group's disk.
func (g *Group) usesDisk(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(volumes.Disks(spec), func(d volumes.Disk) bool { return d.Name == g.Disk })
}
