package volumes

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// freeVolumes contains the volumes that are not bound to a claim, the smallest volume first.
type freeVolumes struct {
	// reserved are the volumes that name a claim (spec.claimRef), by claim.
	reserved map[claimKey][]*corev1.PersistentVolume
	// byClass are the volumes that any claim may get, by StorageClass.
	byClass map[string][]*corev1.PersistentVolume
}

func newFreeVolumes(volumes []*corev1.PersistentVolume) *freeVolumes {
	f := &freeVolumes{reserved: map[claimKey][]*corev1.PersistentVolume{}, byClass: map[string][]*corev1.PersistentVolume{}}
	sorted := slices.SortedFunc(slices.Values(volumes), func(a, b *corev1.PersistentVolume) int {
		sizeA, sizeB := a.Spec.Capacity[corev1.ResourceStorage], b.Spec.Capacity[corev1.ResourceStorage]
		return cmp.Or(sizeA.Cmp(sizeB), cmp.Compare(a.Name, b.Name))
	})
	for _, pv := range sorted {
		switch ref := pv.Spec.ClaimRef; {
		case pv.DeletionTimestamp != nil:
		case ref != nil:
			key := claimKey{ref.Namespace, ref.Name}
			f.reserved[key] = append(f.reserved[key], pv)
		case pv.Status.Phase == corev1.VolumeAvailable:
			name := cmp.Or(pv.Annotations[corev1.BetaStorageClassAnnotation], pv.Spec.StorageClassName)
			f.byClass[name] = append(f.byClass[name], pv)
		}
	}
	return f
}

// assignFreeVolumes assigns manually created volumes to claims of classes that create no volumes. Small claims come first, and each gets
// the smallest suitable volume. kube-scheduler takes the smallest suitable volume on the node that it checks. Therefore, on every single
// node, kube-scheduler assigns at least as many volumes as assignFreeVolumes. No volume is promised to two pods. Pods with claims that got
// no volume can't be on existing nodes. A pod with several such claims may get volumes on different nodes, because each claim is assigned
// separately.
func (x *Index) assignFreeVolumes(volumes []*corev1.PersistentVolume, waiting []*claim) {
	if len(waiting) == 0 {
		return
	}
	slices.SortFunc(waiting, func(a, b *claim) int {
		sizeA, sizeB := storageRequest(a.object), storageRequest(b.object)
		return cmp.Or(sizeA.Cmp(sizeB), byName(a.object, b.object))
	})
	free := newFreeVolumes(volumes)
	for _, c := range waiting {
		pv := free.take(c.object, x.className(c.object.Annotations, &c.object.Spec))
		if pv == nil {
			continue
		}
		if alternatives, ok := x.volumeTopology(pv); ok {
			c.place(x, pv, alternatives)
			c.attaches = attachedVolume(pv)
		}
	}
}

// take assigns a volume to the claim. It returns nil if no volume is suitable. A volume that is reserved for the claim comes first, even if
// its class is different.
func (f *freeVolumes) take(pvc *corev1.PersistentVolumeClaim, class string) *corev1.PersistentVolume {
	for _, pv := range f.reserved[claimKey{pvc.Namespace, pvc.Name}] {
		if (pv.Spec.ClaimRef.UID == "" || pv.Spec.ClaimRef.UID == pvc.UID) && largeEnough(pv, pvc) {
			return pv
		}
	}
	selector := labels.Everything()
	if pvc.Spec.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(pvc.Spec.Selector); err != nil {
			return nil
		}
	}
	list := f.byClass[class]
	for i, pv := range list {
		if largeEnough(pv, pvc) && selector.Matches(labels.Set(pv.Labels)) && allowsModes(pv, pvc) {
			f.byClass[class] = slices.Delete(list, i, i+1)
			return pv
		}
	}
	return nil
}

// largeEnough reports whether the volume is large enough for the claim, and has the volume mode and VolumeAttributesClass of the claim.
func largeEnough(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) bool {
	size, request := pv.Spec.Capacity[corev1.ResourceStorage], storageRequest(pvc)
	const usual = corev1.PersistentVolumeFilesystem
	return size.Cmp(request) >= 0 && derefOr(pv.Spec.VolumeMode, usual) == derefOr(pvc.Spec.VolumeMode, usual) &&
		derefOr(pv.Spec.VolumeAttributesClassName, "") == derefOr(pvc.Spec.VolumeAttributesClassName, "")
}

func allowsModes(pv *corev1.PersistentVolume, pvc *corev1.PersistentVolumeClaim) bool {
	return !slices.ContainsFunc(pvc.Spec.AccessModes, func(mode corev1.PersistentVolumeAccessMode) bool {
		return !slices.Contains(pv.Spec.AccessModes, mode)
	})
}

func storageRequest(pvc *corev1.PersistentVolumeClaim) resource.Quantity {
	return pvc.Spec.Resources.Requests[corev1.ResourceStorage]
}

func derefOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
