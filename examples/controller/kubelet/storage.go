package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// StorageDriver is the provisioner of StorageClasses with simulated volumes: disks in one zone that are attached to one node at a
// time.
const StorageDriver = "disk.e2e.drawknife.test"

// selectedNodeAnnotation is where kube-scheduler writes on which node the pod needs the claim's volume.
const selectedNodeAnnotation = "volume.kubernetes.io/selected-node"

// provisionerAnnotation is the annotation with which the volume binder requests a volume from a driver.
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"

// storageWork is a PersistentVolumeClaim that may need a volume, or a VolumeAttachment to complete.
type storageWork struct {
	namespace, claim string
	attachment       string
}

func (s *Simulator) syncStorage(ctx context.Context, w storageWork) (time.Duration, error) {
	if w.attachment != "" {
		return 0, s.attach(ctx, w.attachment)
	}
	return 0, s.provision(ctx, w.namespace, w.claim)
}

// attach marks a VolumeAttachment as attached. Detaching needs no work: without a finalizer, deleting the object is enough.
func (s *Simulator) attach(ctx context.Context, name string) error {
	attachments := s.client.StorageV1().VolumeAttachments()
	attachment, err := attachments.Get(ctx, name, metav1.GetOptions{})
	if err != nil || attachment.Spec.Attacher != StorageDriver || attachment.Status.Attached || attachment.DeletionTimestamp != nil {
		return err
	}
	_, err = attachments.Patch(ctx, name, types.MergePatchType, []byte(`{"status":{"attached":true}}`), metav1.PatchOptions{}, "status")
	return err
}

// provision creates the volume of a claim once the volume binder has requested it.
func (s *Simulator) provision(ctx context.Context, namespace, name string) error {
	claim, err := s.claims.PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return err
	}
	if claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil || claim.Annotations[provisionerAnnotation] != StorageDriver ||
		claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := s.classOf(ctx, claim)
	if err != nil {
		return err
	}
	zones, wait, err := s.zones(ctx, claim, class)
	if err != nil || wait {
		return err
	}
	_, err = s.client.CoreV1().PersistentVolumes().Create(ctx, volume(claim, class, zones), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// classOf returns the StorageClass of a claim. If the cache does not have the class yet, classOf reads it from the API server, because the
// claim may have no further event.
func (s *Simulator) classOf(ctx context.Context, claim *corev1.PersistentVolumeClaim) (*storagev1.StorageClass, error) {
	name := *claim.Spec.StorageClassName
	class, err := s.classes.Get(name)
	if apierrors.IsNotFound(err) {
		class, err = s.client.StorageV1().StorageClasses().Get(ctx, name, metav1.GetOptions{})
	}
	if err != nil { // %v, not %w: the caller does not retry if the error chain contains a NotFound
		return nil, fmt.Errorf("the class of claim %s/%s: %v", claim.Namespace, claim.Name, err)
	}
	return class, nil
}

// zones returns the allowed zones of a claim's volume; an empty list means any zone. wait is true if kube-scheduler must still choose a
// node. If the chosen node is gone, zones calls giveBack, as real drivers do. Otherwise the claim would wait for that node forever.
func (s *Simulator) zones(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (zones []string, wait bool, err error) {
	if selected := claim.Annotations[selectedNodeAnnotation]; selected != "" {
		node, err := s.nodes.Get(selected)
		if apierrors.IsNotFound(err) {
			node, err = s.client.CoreV1().Nodes().Get(ctx, selected, metav1.GetOptions{})
		}
		if apierrors.IsNotFound(err) {
			return nil, true, s.giveBack(ctx, claim)
		}
		if err != nil {
			return nil, false, err
		}
		return []string{node.Labels[corev1.LabelTopologyZone]}, false, nil
	}
	if class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer {
		return nil, true, nil
	}
	for _, term := range class.AllowedTopologies {
		for _, expression := range term.MatchLabelExpressions {
			if expression.Key == corev1.LabelTopologyZone && len(expression.Values) > 0 {
				return expression.Values[:1], false, nil
			}
		}
	}
	return nil, false, nil
}

// giveBack makes kube-scheduler choose a node for a claim again. work ignores a write conflict, because the other client's change triggers
// another check.
func (s *Simulator) giveBack(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": claim.ResourceVersion, "annotations": map[string]any{selectedNodeAnnotation: nil},
	}})
	if err != nil {
		return err
	}
	_, err = s.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(ctx, claim.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}

func volume(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, zones []string) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": StorageDriver}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:      slices.Clone(claim.Spec.AccessModes),
			StorageClassName: class.Name,
			// The deletion of disks is not simulated.
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: StorageDriver, VolumeHandle: name}},
		},
	}
	if len(zones) > 0 {
		volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: zones}},
		}}}}
	}
	return volume
}
