package redact

import (
	corev1 "k8s.io/api/core/v1"
)

// volumes returns the volumes of a pod. Volumes that can bind the pod to nodes stay complete. Of volumes with Secrets, ConfigMaps and
// paths, only the name of the volume remains.
func volumes(in []corev1.Volume) []corev1.Volume {
	var out []corev1.Volume
	for i := range in {
		v := &in[i]
		kept := corev1.Volume{Name: v.Name}
		kept.PersistentVolumeClaim, kept.EmptyDir = v.PersistentVolumeClaim, v.EmptyDir
		if v.HostPath != nil {
			kept.HostPath = &corev1.HostPathVolumeSource{Type: v.HostPath.Type}
		}
		if e := v.Ephemeral; e != nil {
			kept.Ephemeral = &corev1.EphemeralVolumeSource{}
			if t := e.VolumeClaimTemplate; t != nil {
				kept.Ephemeral.VolumeClaimTemplate = &corev1.PersistentVolumeClaimTemplate{ObjectMeta: metadata(&t.ObjectMeta), Spec: claimSpec(&t.Spec)}
			}
		}
		if c := v.CSI; c != nil {
			kept.CSI = &corev1.CSIVolumeSource{Driver: c.Driver, ReadOnly: c.ReadOnly}
		}
		if d := v.AWSElasticBlockStore; d != nil {
			kept.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: d.VolumeID, ReadOnly: d.ReadOnly, Partition: d.Partition}
		}
		if d := v.GCEPersistentDisk; d != nil {
			kept.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: d.PDName, ReadOnly: d.ReadOnly, Partition: d.Partition}
		}
		if d := v.AzureDisk; d != nil {
			kept.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: d.DiskName, DataDiskURI: d.DataDiskURI, ReadOnly: d.ReadOnly}
		}
		if d := v.Cinder; d != nil {
			kept.Cinder = &corev1.CinderVolumeSource{VolumeID: d.VolumeID, ReadOnly: d.ReadOnly}
		}
		out = append(out, kept)
	}
	return out
}

func claimSpec(in *corev1.PersistentVolumeClaimSpec) corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		AccessModes: in.AccessModes, Selector: in.Selector, Resources: in.Resources, VolumeName: in.VolumeName,
		StorageClassName: in.StorageClassName, VolumeMode: in.VolumeMode, VolumeAttributesClassName: in.VolumeAttributesClassName,
	}
}

func stripVolume(in *corev1.PersistentVolume) *corev1.PersistentVolume {
	out := &corev1.PersistentVolume{
		ObjectMeta: metadata(&in.ObjectMeta),
		Spec: corev1.PersistentVolumeSpec{
			Capacity: in.Spec.Capacity, AccessModes: in.Spec.AccessModes, ClaimRef: in.Spec.ClaimRef, StorageClassName: in.Spec.StorageClassName,
			VolumeMode: in.Spec.VolumeMode, NodeAffinity: in.Spec.NodeAffinity, VolumeAttributesClassName: in.Spec.VolumeAttributesClassName,
			PersistentVolumeReclaimPolicy: in.Spec.PersistentVolumeReclaimPolicy,
		},
		Status: corev1.PersistentVolumeStatus{Phase: in.Status.Phase},
	}
	from, to := &in.Spec.PersistentVolumeSource, &out.Spec.PersistentVolumeSource
	if c := from.CSI; c != nil {
		to.CSI = &corev1.CSIPersistentVolumeSource{Driver: c.Driver, VolumeHandle: c.VolumeHandle, ReadOnly: c.ReadOnly}
	}
	if d := from.AWSElasticBlockStore; d != nil {
		to.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: d.VolumeID, ReadOnly: d.ReadOnly, Partition: d.Partition}
	}
	if d := from.GCEPersistentDisk; d != nil {
		to.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: d.PDName, ReadOnly: d.ReadOnly, Partition: d.Partition}
	}
	if d := from.AzureDisk; d != nil {
		to.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: d.DiskName, DataDiskURI: d.DataDiskURI, ReadOnly: d.ReadOnly}
	}
	if d := from.Cinder; d != nil {
		to.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: d.VolumeID, ReadOnly: d.ReadOnly}
	}
	if from.Local != nil {
		to.Local = &corev1.LocalVolumeSource{}
	}
	if from.HostPath != nil {
		to.HostPath = &corev1.HostPathVolumeSource{Type: from.HostPath.Type}
	}
	return out
}
