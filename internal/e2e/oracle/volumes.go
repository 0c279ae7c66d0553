package oracle

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	volumehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/drawknife/drawknife/scheduling"
)

// noProvisioner marks StorageClasses with manually created volumes.
const noProvisioner = "kubernetes.io/no-provisioner"

// addObjects adds those objects of the snapshot that are not nodes or pods to the informers that plugins read.
func (j *judge) addObjects(s *scheduling.Snapshot) error {
	core, storage, apps := j.objects.Core().V1(), j.objects.Storage().V1(), j.objects.Apps().V1()
	return firstError(
		addAll(core.Namespaces().Informer(), s.Namespaces),
		addAll(core.Services().Informer(), s.Services),
		addAll(core.ReplicationControllers().Informer(), s.ReplicationControllers),
		addAll(core.PersistentVolumeClaims().Informer(), s.PersistentVolumeClaims),
		addAll(core.PersistentVolumes().Informer(), s.PersistentVolumes),
		addAll(apps.ReplicaSets().Informer(), s.ReplicaSets),
		addAll(apps.StatefulSets().Informer(), s.StatefulSets),
		addAll(storage.StorageClasses().Informer(), s.StorageClasses),
		addAll(storage.CSINodes().Informer(), s.CSINodes),
		addAll(storage.VolumeAttachments().Informer(), s.VolumeAttachments),
	)
}

// addVolumeLimits adds the CSINode that the kubelet and the drivers will create for a node with these attach limits.
func (j *judge) addVolumeLimits(node string, limits map[string]int32) error {
	object := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		count := limits[name]
		object.Spec.Drivers = append(object.Spec.Drivers, storagev1.CSINodeDriver{
			Name: name, NodeID: node, Allocatable: &storagev1.VolumeNodeResources{Count: &count},
		})
	}
	return j.objects.Storage().V1().CSINodes().Informer().GetIndexer().Add(object)
}

func addAll[T any](informer cache.SharedIndexInformer, objects []T) error {
	for _, o := range objects {
		if err := informer.GetIndexer().Add(o); err != nil {
			return fmt.Errorf("adding a %T: %w", o, err)
		}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// claimName returns the name of the claim that a pod's volume uses, or "" if it uses none.
func claimName(pod *corev1.Pod, volume *corev1.Volume) string {
	switch {
	case volume.PersistentVolumeClaim != nil:
		return volume.PersistentVolumeClaim.ClaimName
	case volume.Ephemeral != nil:
		return pod.Name + "-" + volume.Name
	}
	return ""
}

// bindVolumes simulates what happens after kube-scheduler has bound a pod with unbound claims: each claim gets a volume that can be used
// from the node, and is bound to it. Later pods with the same claim must be on a node from which the volume can be used.
func (j *judge) bindVolumes(pod *corev1.Pod, node string) error {
	claims := j.objects.Core().V1().PersistentVolumeClaims().Informer().GetIndexer()
	for i := range pod.Spec.Volumes {
		name := claimName(pod, &pod.Spec.Volumes[i])
		if name == "" {
			continue
		}
		object, ok, err := claims.GetByKey(pod.Namespace + "/" + name)
		if err != nil || !ok {
			return fmt.Errorf("binding the volumes of pod %s/%s: claim %q was accepted but is not there (%v)", pod.Namespace, pod.Name, name, err)
		}
		if claim := object.(*corev1.PersistentVolumeClaim); claim.Spec.VolumeName == "" {
			if err := j.bindClaim(claim, j.cluster.byName[node].Node()); err != nil {
				return fmt.Errorf("binding the volumes of pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
	}
	return nil
}

// bindClaim binds a claim to a suitable manually created volume. If there is none, it binds the claim to a volume that the provisioner of
// its class creates.
func (j *judge) bindClaim(claim *corev1.PersistentVolumeClaim, node *corev1.Node) error {
	object, ok, err := j.objects.Storage().V1().StorageClasses().Informer().GetIndexer().GetByKey(volumehelpers.GetPersistentVolumeClaimClass(claim))
	if err != nil || !ok {
		return fmt.Errorf("claim %q was accepted but its storage class is not there (%v)", claim.Name, err)
	}
	class := object.(*storagev1.StorageClass)
	volumes := j.objects.Core().V1().PersistentVolumes().Informer().GetIndexer()
	pv, err := volumehelpers.FindMatchingVolume(claim, j.volumesOf(class.Name), node, nil, true, true)
	switch {
	case err != nil:
		return fmt.Errorf("looking for a volume for claim %q: %w", claim.Name, err)
	case pv != nil:
		pv = pv.DeepCopy()
		pv.Spec.ClaimRef = claimRef(claim)
	case class.Provisioner == noProvisioner:
		return fmt.Errorf("claim %q was accepted but no volume of class %s fits", claim.Name, class.Name)
	default:
		pv = provisioned(claim, class, node)
	}
	claim = claim.DeepCopy()
	claim.Spec.VolumeName = pv.Name
	claim.Status.Phase = corev1.ClaimBound
	metav1.SetMetaDataAnnotation(&claim.ObjectMeta, volumehelpers.AnnBindCompleted, "yes")
	return firstError(volumes.Update(pv), j.objects.Core().V1().PersistentVolumeClaims().Informer().GetIndexer().Update(claim))
}

// volumesOf returns the volumes of a class.
func (j *judge) volumesOf(class string) []*corev1.PersistentVolume {
	var out []*corev1.PersistentVolume
	for _, o := range j.objects.Core().V1().PersistentVolumes().Informer().GetIndexer().List() {
		if pv := o.(*corev1.PersistentVolume); volumehelpers.GetPersistentVolumeClass(pv) == class {
			out = append(out, pv)
		}
	}
	return out
}

// supplyVolumes creates volumes for a pod on a planned node, like a person who creates volumes by hand after the node has joined. Each of
// the pod's claims of such classes gets a volume, unless a free volume can already be used from the node.
func (j *judge) supplyVolumes(pod *corev1.Pod, node string) error {
	core := j.objects.Core().V1()
	taken := map[string]*corev1.PersistentVolume{}
	for i := range pod.Spec.Volumes {
		name := claimName(pod, &pod.Spec.Volumes[i])
		object, ok, err := core.PersistentVolumeClaims().Informer().GetIndexer().GetByKey(pod.Namespace + "/" + name)
		if err != nil || !ok || object.(*corev1.PersistentVolumeClaim).Spec.VolumeName != "" {
			continue // no volume is needed; if there is an error, the plugins report it
		}
		claim := object.(*corev1.PersistentVolumeClaim)
		object, ok, err = j.objects.Storage().V1().StorageClasses().Informer().GetIndexer().GetByKey(volumehelpers.GetPersistentVolumeClaimClass(claim))
		if err != nil || !ok || object.(*storagev1.StorageClass).Provisioner != noProvisioner {
			continue
		}
		class := object.(*storagev1.StorageClass)
		pv, err := volumehelpers.FindMatchingVolume(claim, j.volumesOf(class.Name), j.cluster.byName[node].Node(), taken, true, true)
		if err != nil {
			return fmt.Errorf("looking for a volume for claim %q: %w", claim.Name, err)
		}
		if pv == nil {
			pv = provisioned(claim, class, j.cluster.byName[node].Node())
			pv.Name, pv.Spec.ClaimRef, pv.Status.Phase = "by-hand-"+pv.Name, nil, corev1.VolumeAvailable
			if err := core.PersistentVolumes().Informer().GetIndexer().Add(pv); err != nil {
				return err
			}
		}
		taken[pv.Name] = pv
	}
	return nil
}

// provisioned returns the volume that a provisioner creates for a pod on the node. It can be used from nodes that have the same values as
// this node for the labels in the class's allowedTopologies.
func provisioned(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, node *corev1.Node) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + claim.Namespace + "-" + claim.Name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:      claim.Spec.AccessModes,
			StorageClassName: class.Name,
			ClaimRef:         claimRef(claim),
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: claim.Namespace + "-" + claim.Name},
			},
		},
	}
	var keys []string
	for _, term := range class.AllowedTopologies {
		for _, e := range term.MatchLabelExpressions {
			if !slices.Contains(keys, e.Key) {
				keys = append(keys, e.Key)
			}
		}
	}
	var where []corev1.NodeSelectorRequirement
	for _, key := range keys {
		if value, ok := node.Labels[key]; ok {
			where = append(where, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
		}
	}
	if len(where) > 0 {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: where}}}}
	}
	return pv
}

func claimRef(claim *corev1.PersistentVolumeClaim) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
}
