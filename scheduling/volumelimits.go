package scheduling

import (
	"cmp"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// CSI drivers that took over volumes of plugins once built into Kubernetes, with the names of those plugins. Only
// these four are counted by kube-scheduler under the driver's name.
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

// csiDriver is the driver behind a provisioner: itself, or the one that took its place.
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

// volumeID tells attachable volumes apart.
type volumeID struct {
	// driver is a CSI driver; empty for what is not attached.
	driver string
	// id is the volume's handle, or the namespace/name of a claim that has no volume yet; empty for a claim that is not
	// made yet, which is unlike any other.
	id string
}

// volumeClaim is an attachable volume of a pod: it takes one of the node's slots for the driver, however many of the
// node's pods use it.
type volumeClaim struct {
	volumeID
	// shared is true when another pod of the snapshot uses it too.
	shared bool
	// unbound is true for a volume that will be made where the first of its pods goes: the others have to follow it.
	unbound bool
}

// attachment counts the pods of an attachable volume.
type attachment struct {
	pods int
	last *corev1.Pod
}

// attachedVolume is what a volume attaches to a node; zero when that is nothing, or nothing that is counted.
func attachedVolume(pv *corev1.PersistentVolume) volumeID {
	switch s := &pv.Spec.PersistentVolumeSource; {
	case s.CSI != nil:
		return volumeID{s.CSI.Driver, cmp.Or(s.CSI.VolumeHandle, pv.Name)}
	case s.Cinder != nil:
		return volumeID{driverCinder, s.Cinder.VolumeID}
	default:
		return diskVolume(s.AWSElasticBlockStore, s.GCEPersistentDisk, s.AzureDisk)
	}
}

// inlineVolume is what a pod's volume without a claim attaches; zero when that is nothing.
func inlineVolume(v *corev1.Volume) volumeID {
	if v.Cinder != nil {
		return volumeID{driverCinder, v.Cinder.VolumeID}
	}
	return diskVolume(v.AWSElasticBlockStore, v.GCEPersistentDisk, v.AzureDisk)
}

// diskVolume is the one of the disks that is set.
func diskVolume(ebs *corev1.AWSElasticBlockStoreVolumeSource, gce *corev1.GCEPersistentDiskVolumeSource, azure *corev1.AzureDiskVolumeSource) volumeID {
	switch {
	case ebs != nil:
		return volumeID{driverEBS, path.Base(ebs.VolumeID)} // vol-1, or aws://zone/vol-1
	case gce != nil:
		return volumeID{driverGCEDisk, gce.PDName}
	case azure != nil:
		return volumeID{driverAzureDisk, azure.DataDiskURI}
	}
	return volumeID{}
}

// attaches is what a claim attaches, whatever else is wrong with it: its volume or, as long as that is not there, one
// of its class. What can't be resolved is not counted.
func (x *volumeIndex) attaches(pvc *corev1.PersistentVolumeClaim) volumeID {
	if pv := x.volumes[pvc.Spec.VolumeName]; pv != nil && pvc.Spec.VolumeName != "" {
		return attachedVolume(pv)
	}
	class := x.classes[x.className(pvc.Annotations, &pvc.Spec)]
	if class == nil || !provisions(class) {
		return volumeID{}
	}
	return volumeID{csiDriver(class.Provisioner), pvc.Namespace + "/" + pvc.Name}
}

// provisions reports whether a class makes volumes, rather than having them made by hand.
func provisions(class *storagev1.StorageClass) bool {
	return class.Provisioner != "" && class.Provisioner != noProvisioner
}

// attached are the distinct attachable volumes of a pod, sorted by driver and id, also of one that of refuses.
func (x *volumeIndex) attached(pod *corev1.Pod) []volumeClaim {
	var out []volumeClaim
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		one := volumeClaim{volumeID: inlineVolume(v)}
		if c, claimed := x.claimed(pod, v); claimed {
			one = volumeClaim{c.attaches, c.shared, c.unbound}
		} else {
			one.shared = x.isShared(one.volumeID)
		}
		if one.driver == "" {
			continue
		}
		if one.id == "" {
			key, _ := claimOf(pod, v)
			one.id = key.String()
		}
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b volumeClaim) int { return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.id, b.id)) })
	return out
}

func (x *volumeIndex) isShared(id volumeID) bool {
	a := x.attachments[id]
	return a != nil && a.pods > 1
}

// repeated reports whether a volume of the pod before the i-th attaches the same thing.
func (x *volumeIndex) repeated(pod *corev1.Pod, i int, id volumeID) bool {
	if id.id == "" {
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

// attachmentText appends the driver and, of a shared volume, which one it is.
func attachmentText(buf []byte, id volumeID, shared bool) []byte {
	buf = appendText(buf, id.driver)
	if !shared {
		return append(buf, 'u')
	}
	return appendText(append(buf, 's'), id.id)
}

// nodeVolumeLimits are how many volumes of each driver the node can attach; a driver that is not listed is unlimited.
// Nil without limits, or without a CSINode.
func nodeVolumeLimits(csiNode *storagev1.CSINode) map[string]int64 {
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
