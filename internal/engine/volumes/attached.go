package volumes

import (
	"cmp"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// These CSI drivers replaced volume plugins that were built into Kubernetes. The constants also have the names of these plugins. Of all
// built-in plugins, kube-scheduler counts only the volumes of these four plugins under the driver's name.
const (
	driverEBS       = "ebs.csi.aws.com"
	driverGCEDisk   = "pd.csi.storage.gke.io"
	driverAzureDisk = "disk.csi.azure.com"
	driverCinder    = "cinder.csi.openstack.org"

	inTreeEBS       = "kubernetes.io/aws-ebs"
	inTreeGCEDisk   = "kubernetes.io/gce-pd"
	inTreeAzureDisk = "kubernetes.io/azure-disk"
	inTreeCinder    = "kubernetes.io/cinder"
)

// csiDriver returns the CSI driver of a provisioner. For an in-tree volume plugin, this is the driver that replaced the plugin. For any
// other provisioner, it is the provisioner itself.
func csiDriver(provisioner string) string {
	switch provisioner {
	case inTreeEBS:
		return driverEBS
	case inTreeGCEDisk:
		return driverGCEDisk
	case inTreeAzureDisk:
		return driverAzureDisk
	case inTreeCinder:
		return driverCinder
	}
	return provisioner
}

// ID identifies a volume that can be attached.
type ID struct {
	// Driver is a CSI driver. It is empty if the volume is not attached to nodes.
	Driver string
	// Handle is the volume's handle, or the namespace/name of a claim that has no volume yet. It is empty for a claim that does not exist
	// yet, because each such claim gets its own volume.
	Handle string
}

// Claim is an attachable volume of a pod. The volume uses one attachment of the driver on the node, even if several pods on the node use
// the volume.
type Claim struct {
	ID
	// Shared is true if another pod of the snapshot also uses the volume.
	Shared bool
	// Unbound is true for a volume that is not created yet. It will be created in the zone of the first pod that uses it, and its other
	// pods must then run in this zone.
	Unbound bool
}

// attachment counts the pods of an attachable volume.
type attachment struct {
	pods int
	last *corev1.Pod
}

// attachedVolume returns the ID of a volume. It returns the zero value if the volume uses no attachment that is counted.
func attachedVolume(pv *corev1.PersistentVolume) ID {
	switch s := &pv.Spec.PersistentVolumeSource; {
	case s.CSI != nil:
		return ID{s.CSI.Driver, cmp.Or(s.CSI.VolumeHandle, pv.Name)}
	case s.Cinder != nil:
		return ID{driverCinder, s.Cinder.VolumeID}
	default:
		return diskVolume(s.AWSElasticBlockStore, s.GCEPersistentDisk, s.AzureDisk)
	}
}

// inlineVolume returns the ID of a disk that a pod names directly, without a claim. It returns the zero value if the disk uses no
// attachment that is counted.
func inlineVolume(v *corev1.Volume) ID {
	if v.Cinder != nil {
		return ID{driverCinder, v.Cinder.VolumeID}
	}
	return diskVolume(v.AWSElasticBlockStore, v.GCEPersistentDisk, v.AzureDisk)
}

// diskVolume returns the ID of the parameter that is not nil, or the zero value if all parameters are nil.
func diskVolume(ebs *corev1.AWSElasticBlockStoreVolumeSource, gce *corev1.GCEPersistentDiskVolumeSource, azure *corev1.AzureDiskVolumeSource) ID {
	switch {
	case ebs != nil:
		return ID{driverEBS, path.Base(ebs.VolumeID)} // vol-1, or aws://zone/vol-1
	case gce != nil:
		return ID{driverGCEDisk, gce.PDName}
	case azure != nil:
		return ID{driverAzureDisk, azure.DataDiskURI}
	}
	return ID{}
}

// attaches returns the ID of the claim's volume. If the volume does not exist yet, it returns the ID of a volume that the claim's
// StorageClass would create. It ignores other faults of the claim. It returns the zero value if the claim's volume is missing, and its
// StorageClass is missing or does not create volumes.
func (x *Index) attaches(pvc *corev1.PersistentVolumeClaim) ID {
	if pv := x.volumes[pvc.Spec.VolumeName]; pv != nil && pvc.Spec.VolumeName != "" {
		return attachedVolume(pv)
	}
	class := x.classes[x.className(pvc.Annotations, &pvc.Spec)]
	if class == nil || !provisions(class) {
		return ID{}
	}
	return ID{csiDriver(class.Provisioner), pvc.Namespace + "/" + pvc.Name}
}

// provisions reports whether volumes of a class are created dynamically and not by hand.
func provisions(class *storagev1.StorageClass) bool {
	return class.Provisioner != "" && class.Provisioner != noProvisioner
}

// Attached returns the distinct attachable volumes of a pod, sorted by driver and ID. It also works for pods that Of refuses.
func (x *Index) Attached(pod *corev1.Pod) []Claim {
	var out []Claim
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		one := Claim{ID: inlineVolume(v)}
		if c, claimed := x.claimed(pod, v); claimed {
			one = Claim{c.attaches, c.shared, c.unbound}
		} else {
			one.Shared = x.isShared(one.ID)
		}
		if one.Driver == "" {
			continue
		}
		if one.Handle == "" {
			key, _ := claimOf(pod, v)
			one.Handle = key.String()
		}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b Claim) int { return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Handle, b.Handle)) })
	return out
}

func (x *Index) isShared(id ID) bool {
	a := x.attachments[id]
	return a != nil && a.pods > 1
}

// repeated reports whether one of the pod's volumes with an index below i has the given ID.
func (x *Index) repeated(pod *corev1.Pod, i int, id ID) bool {
	if id.Handle == "" {
		return false
	}
	for j := range i {
		v := &pod.Spec.Volumes[j]
		other := inlineVolume(v)
		if c, claimed := x.claimed(pod, v); claimed {
			other = c.attaches
		}
		if other == id {
			return true
		}
	}
	return false
}

// attachmentText appends the volume's driver to buf and, for a shared volume, the volume's handle.
func attachmentText(buf []byte, id ID, shared bool) []byte {
	buf = appendText(buf, id.Driver)
	if !shared {
		return append(buf, 'u')
	}
	return appendText(append(buf, 's'), id.Handle)
}

// NodeLimits returns how many volumes of each driver the node can attach. There is no limit for drivers that are not in the result. It
// returns nil if the CSINode is missing or has no limits.
func NodeLimits(csiNode *storagev1.CSINode) map[string]int64 {
	if csiNode == nil {
		return nil
	}
	var out map[string]int64
	for i := range csiNode.Spec.Drivers {
		d := &csiNode.Spec.Drivers[i]
		if d.Allocatable == nil || d.Allocatable.Count == nil {
			continue
		}
		if out == nil {
			out = make(map[string]int64, len(csiNode.Spec.Drivers))
		}
		out[d.Name] = int64(*d.Allocatable.Count)
	}
	return out
}
