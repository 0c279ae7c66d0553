package volumes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// attachmentsByNode reads VolumeAttachments as kube-scheduler does: it returns the CSI PersistentVolumes that are attached to each node.
// Their IDs have the name of the driver that attaches the volume.
func (x *Index) attachmentsByNode(list []*storagev1.VolumeAttachment) map[string][]ID {
	out := map[string][]ID{}
	for _, a := range list {
		if a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		pv := x.volumes[*a.Spec.Source.PersistentVolumeName]
		if pv == nil || pv.Spec.CSI == nil {
			continue
		}
		id := attachedVolume(pv)
		id.Driver = a.Spec.Attacher
		if !slices.Contains(out[a.Spec.NodeName], id) {
			out[a.Spec.NodeName] = append(out[a.Spec.NodeName], id)
		}
	}
	return out
}

// Unused counts, by driver, the volumes that are attached to the node although none of the given pods uses them.
func (x *Index) Unused(node string, pods []*corev1.Pod) map[string]int64 {
	return x.unusedOf(x.attachedTo[node], pods)
}

func (x *Index) unusedOf(attached []ID, pods []*corev1.Pod) map[string]int64 {
	if len(attached) == 0 {
		return nil
	}
	used := map[ID]bool{}
	for _, pod := range pods {
		if len(pod.Spec.Volumes) == 0 || ended(pod) {
			continue
		}
		for _, c := range x.Attached(pod) {
			used[c.ID] = true
		}
	}
	out := map[string]int64{}
	for _, id := range attached {
		if !used[id] {
			out[id.Driver]++
		}
	}
	return out
}

// ended reports whether the pod has ended and uses no resources any more.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// SameUnused reports whether the list of VolumeAttachments has the same effect on free attachments as the list from which New made the
// index. For each node, the volumes in both lists must be equal, or the node's pods must use all volumes in both lists. Most
// VolumeAttachments appear and disappear with pods that use the volumes, so they use no attachments in addition to those of the pods.
func (x *Index) SameUnused(list []*storagev1.VolumeAttachment, nodes func(yield func(node string, pods []*corev1.Pod) bool)) bool {
	now := x.attachmentsByNode(list)
	for node, pods := range nodes {
		was, is := x.attachedTo[node], now[node]
		if !slices.Equal(was, is) && len(x.unusedOf(was, pods))+len(x.unusedOf(is, pods)) > 0 {
			return false
		}
	}
	return true
}
