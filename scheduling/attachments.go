package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// attachmentsByNode reads VolumeAttachments as kube-scheduler does: those of PersistentVolumes of CSI, under the name of
// the driver that attaches them.
func (x *volumeIndex) attachmentsByNode(list []*storagev1.VolumeAttachment) map[string][]volumeID {
	out := map[string][]volumeID{}
	for _, a := range list {
		if a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		pv := x.volumes[*a.Spec.Source.PersistentVolumeName]
		if pv == nil || pv.Spec.CSI == nil {
			continue
		}
		id := attachedVolume(pv)
		id.driver = a.Spec.Attacher
		if !slices.Contains(out[a.Spec.NodeName], id) {
			out[a.Spec.NodeName] = append(out[a.Spec.NodeName], id)
		}
	}
	return out
}

// chargeAttachments takes the volumes off the machine's room that are attached to it although none of its pods uses them:
// of pods that have gone, until they are detached. A pod that brings such a volume back counts it again, as in
// kube-scheduler.
func (m *Model) chargeAttachments(n *Node, free []int64) {
	for driver, count := range m.volumes.unused(m.volumes.attachedTo[n.Name], n.Pods) {
		if at, ok := m.resources.index[attachResource(driver)]; ok {
			free[at] -= count
		}
	}
}

// unused counts, by driver, the attached volumes that none of the pods uses.
func (x *volumeIndex) unused(attached []volumeID, pods []*corev1.Pod) map[string]int64 {
	if len(attached) == 0 {
		return nil
	}
	used := map[volumeID]bool{}
	for _, pod := range pods {
		if len(pod.Spec.Volumes) == 0 || terminal(pod) {
			continue
		}
		for _, c := range x.attached(pod) {
			used[c.volumeID] = true
		}
	}
	out := map[string]int64{}
	for _, id := range attached {
		if !used[id] {
			out[id.driver]++
		}
	}
	return out
}

// sameAttachments reports whether VolumeAttachments take as much room on each of the machines as they did. Most come and
// go with pods that use the volumes, so that they take none.
func (m *Model) sameAttachments(s *Snapshot) bool {
	if slices.Equal(m.snapshot.VolumeAttachments, s.VolumeAttachments) {
		return true
	}
	if firstNil(s.VolumeAttachments) >= 0 {
		return false
	}
	now := m.volumes.attachmentsByNode(s.VolumeAttachments)
	for i := range m.nodes {
		n := m.nodes[i].source
		was, is := m.volumes.attachedTo[n.Name], now[n.Name]
		if !slices.Equal(was, is) && len(m.volumes.unused(was, n.Pods))+len(m.volumes.unused(is, n.Pods)) > 0 {
			return false
		}
	}
	return true
}
