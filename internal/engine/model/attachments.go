package model

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// sameAttachments reports whether VolumeAttachments take as much room on each of the nodes as they did.
func (m *Model) sameAttachments(s *planning.Snapshot) bool {
	if slices.Equal(m.Snapshot.VolumeAttachments, s.VolumeAttachments) {
		return true
	}
	if firstNil(s.VolumeAttachments) >= 0 {
		return false
	}
	return m.Volumes.SameUnused(s.VolumeAttachments, func(yield func(node string, pods []*corev1.Pod) bool) {
		for i := range m.Nodes {
			if n := m.Nodes[i].Source; !yield(n.Name, n.Pods) {
				return
			}
		}
	})
}

// VolumesOf are the snapshot's objects that volumes are read from; users yields the pods that have some, bound ones first.
func VolumesOf(s *planning.Snapshot, users func(yield func(pod *corev1.Pod, bound bool) bool)) *volumes.Objects {
	return &volumes.Objects{
		PersistentVolumes: s.PersistentVolumes, PersistentVolumeClaims: s.PersistentVolumeClaims, StorageClasses: s.StorageClasses,
		VolumeAttachments: s.VolumeAttachments, Users: users, Hostnames: func() map[string]string { return hostnamesOf(s) },
		Unsupported: volumes.Unsupported{TopologyKeys: s.UnsupportedVolumeTopologyKeys, Drivers: s.UnsupportedVolumeDrivers},
	}
}

// hostnamesOf are the hostnames of the nodes that are there and stay, by node name.
func hostnamesOf(s *planning.Snapshot) map[string]string {
	out := make(map[string]string, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Object != nil && !n.Leaving {
			out[n.Object.Name] = cmp.Or(n.Object.Labels[corev1.LabelHostname], n.Object.Name)
		}
	}
	return out
}
