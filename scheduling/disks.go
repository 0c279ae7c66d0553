package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Disks that a pod names itself, without a PersistentVolumeClaim, by kube-scheduler's VolumeRestrictions: two pods of one
// node can't use the same disk, unless both only read it. A disk of EBS can't even be read by two. Volumes of claims are
// not looked at: their access modes are a matter of the storage. A disk is a group with anti-affinity by machine: pods
// that write it keep away from all that use it, and those from them.

// inlineDisk is a disk that a pod names.
type inlineDisk struct {
	// name tells disks apart: its kind and what identifies it.
	name string
	// writes tells that the pod can't share it with readers.
	writes bool
}

// inlineDisks lists those of the pod, by name. A Ceph image stands there once for each of its monitors: it is the same
// image for pods that have one of them in common.
func inlineDisks(spec *corev1.PodSpec) []inlineDisk {
	var out []inlineDisk
	note := func(name string, readOnly bool) {
		at := slices.IndexFunc(out, func(d inlineDisk) bool { return d.name == name })
		if at < 0 {
			out = append(out, inlineDisk{name, !readOnly})
			return
		}
		out[at].writes = out[at].writes || !readOnly
	}
	for i := range spec.Volumes {
		switch v := &spec.Volumes[i]; {
		case v.GCEPersistentDisk != nil:
			note("GCE disk "+v.GCEPersistentDisk.PDName, v.GCEPersistentDisk.ReadOnly)
		case v.AWSElasticBlockStore != nil:
			note("EBS volume "+v.AWSElasticBlockStore.VolumeID, false)
		case v.ISCSI != nil:
			note("iSCSI target "+v.ISCSI.IQN, v.ISCSI.ReadOnly)
		case v.RBD != nil:
			for _, monitor := range v.RBD.CephMonitors {
				note("RBD image "+v.RBD.RBDPool+"/"+v.RBD.RBDImage+" of "+monitor, v.RBD.ReadOnly)
			}
		}
	}
	return out
}

// diskGroups adds a group for each disk that the pod writes.
func diskGroups(spec *corev1.PodSpec, add func(topologyGroup)) {
	for _, d := range inlineDisks(spec) {
		if d.writes {
			add(topologyGroup{kind: kindAnti, key: labelHostname, hard: true, weight: 100, disk: d.name})
		}
	}
}

// usesDisk reports whether the pod names the group's disk.
func (g *topologyGroup) usesDisk(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(inlineDisks(spec), func(d inlineDisk) bool { return d.name == g.disk })
}
