package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// diskClash returns the name of a disk that pods name directly and that keeps the pod off the others' node, or "" if there is none. Source:
// kube-scheduler's VolumeRestrictions.
func diskClash(others []*corev1.Pod, pod *corev1.Pod) string {
	for i := range pod.Spec.Volumes {
		for _, x := range others {
			for j := range x.Spec.Volumes {
				if disk := sameDisk(&pod.Spec.Volumes[i].VolumeSource, &x.Spec.Volumes[j].VolumeSource); disk != "" {
					return "disk " + disk
				}
			}
		}
	}
	return ""
}

func sameDisk(a, b *corev1.VolumeSource) string {
	switch {
	case a.AWSElasticBlockStore != nil && b.AWSElasticBlockStore != nil && a.AWSElasticBlockStore.VolumeID == b.AWSElasticBlockStore.VolumeID:
		return a.AWSElasticBlockStore.VolumeID
	case a.GCEPersistentDisk != nil && b.GCEPersistentDisk != nil && a.GCEPersistentDisk.PDName == b.GCEPersistentDisk.PDName &&
		!(a.GCEPersistentDisk.ReadOnly && b.GCEPersistentDisk.ReadOnly):
		return a.GCEPersistentDisk.PDName
	case a.ISCSI != nil && b.ISCSI != nil && a.ISCSI.IQN == b.ISCSI.IQN && !(a.ISCSI.ReadOnly && b.ISCSI.ReadOnly):
		return a.ISCSI.IQN
	case a.RBD != nil && b.RBD != nil && a.RBD.RBDPool == b.RBD.RBDPool && a.RBD.RBDImage == b.RBD.RBDImage && !(a.RBD.ReadOnly && b.RBD.ReadOnly) &&
		slices.ContainsFunc(a.RBD.CephMonitors, func(m string) bool { return slices.Contains(b.RBD.CephMonitors, m) }):
		return a.RBD.RBDPool + "/" + a.RBD.RBDImage
	}
	return ""
}

// takeAttached subtracts the volumes from the limits that VolumeAttachments attach to the node although none of its pods uses them.
func (c *checker) takeAttached(n *scheduling.Node, limits map[string]int64) {
	type volume struct{ driver, id string }
	seen := map[volume]bool{}
	for _, pod := range n.Pods {
		if finished(pod) {
			continue
		}
		volumes, _ := c.volumesOf(pod)
		for _, v := range volumes {
			seen[volume{v.driver, v.id}] = true
		}
	}
	for _, a := range c.s.VolumeAttachments {
		for _, pv := range c.s.PersistentVolumes {
			if a.Spec.NodeName != n.Name || a.Spec.Source.PersistentVolumeName == nil || *a.Spec.Source.PersistentVolumeName != pv.Name || pv.Spec.CSI == nil {
				continue
			}
			v := volume{a.Spec.Attacher, pv.Spec.CSI.VolumeHandle}
			if left, limited := limits[v.driver]; limited && !seen[v] {
				limits[v.driver] = left - 1
			}
			seen[v] = true
		}
	}
}
