package volumes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Disk is a disk that a pod names directly, without a claim.
type Disk struct {
	// Name identifies the disk. It contains the kind of disk and the identifiers that disks of this kind have.
	Name string
	// Writes is true if the pod can't share the disk with pods that only read it.
	Writes bool
}

// Disks lists the disks that the pod names directly, each name once. A Ceph image has one entry for each of its monitors, because two pods
// use the same image if their volumes have a monitor in common.
func Disks(spec *corev1.PodSpec) []Disk {
	var out []Disk
	note := func(name string, readOnly bool) {
		at := slices.IndexFunc(out, func(d Disk) bool { return d.Name == name })
		if at < 0 {
			out = append(out, Disk{name, !readOnly})
			return
		}
		out[at].Writes = out[at].Writes || !readOnly
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
