package kubelet

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// StorageDriver is the provisioner of StorageClasses whose volumes are played: disks that belong to a zone and are attached
// to one node at a time.
const StorageDriver = "disk.e2e.drawknife.test"

// selectedNodeAnnotation is where the scheduler says which node a volume is wanted for.
const selectedNodeAnnotation = "volume.kubernetes.io/selected-node"

// provisionerAnnotation is where the volume binder asks a driver for a volume.
const provisionerAnnotation = "volume.kubernetes.io/storage-provisioner"

// storageWork is a claim that may need a volume, or an attachment that may need to be made.
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

// attach says of a wanted attachment that it is made. Detaching needs nothing: without a finalizer, the deletion of the
// object is the end of it.
func (s *Simulator) attach(ctx context.Context, name string) error {
	attachments := s.client.StorageV1().VolumeAttachments()
	attachment, err := attachments.Get(ctx, name, metav1.GetOptions{})
	if err != nil || attachment.Spec.Attacher != StorageDriver || attachment.Status.Attached || attachment.DeletionTimestamp != nil {
		return err
	}
	_, err = attachments.Patch(ctx, name, types.MergePatchType, []byte(`{"status":{"attached":true}}`), metav1.PatchOptions{}, "status")
	return err
}

// provision makes the volume of a claim once the binder has asked for it.
func (s *Simulator) provision(ctx context.Context, namespace, name string) error {
	claim, err := s.claims.PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return err
	}
	if claim.Spec.VolumeName != "" || claim.DeletionTimestamp != nil || claim.Annotations[provisionerAnnotation] != StorageDriver ||
		claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := s.classes.Get(*claim.Spec.StorageClassName)
	if err != nil {
		return fmt.Errorf("claim %s/%s: %w", namespace, name, err)
	}
	zones, wait, err := s.zones(claim, class)
	if err != nil || wait {
		return err
	}
	_, err = s.client.CoreV1().PersistentVolumes().Create(ctx, volume(claim, class, zones), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// zones in which a claim's volume may be, none for any; or wait until the scheduler has chosen a node.
func (s *Simulator) zones(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) (zones []string, wait bool, err error) {
	if selected := claim.Annotations[selectedNodeAnnotation]; selected != "" {
		node, err := s.nodes.Get(selected)
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

func volume(claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, zones []string) *corev1.PersistentVolume {
	name := "pvc-" + string(claim.UID)
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": StorageDriver}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:      slices.Clone(claim.Spec.AccessModes),
			StorageClassName: class.Name,
			// Nobody plays the deletion of disks.
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
