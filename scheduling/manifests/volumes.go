package manifests

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling/pods"
)

// AssumedProvisioner is the provisioner of StorageClasses that were assumed because the input does not have them.
const AssumedProvisioner = "manifests.drawknife.dev/assumed"

// isDefaultClass is the annotation that marks the StorageClass that is used for claims without a class.
const isDefaultClass = "storageclass.kubernetes.io/is-default-class"

// addClaims adds the volume claims of a StatefulSet's pod, and references to them in the pod. If a volume of the template has the name of a
// claim, the claim replaces it.
func (l *loader) addClaims(w *workload, pod *corev1.Pod, index int) {
	if len(w.claims) == 0 {
		return
	}
	volumes := make([]corev1.Volume, 0, len(w.claims)+len(pod.Spec.Volumes))
	for i := range w.claims {
		template := &w.claims[i]
		name := fmt.Sprintf("%s-%s-%s", template.Name, w.object.GetName(), strconv.Itoa(index))
		volumes = append(volumes, corev1.Volume{
			Name: template.Name,
			VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
			},
		})
		l.addClaim(w.origin, pod.Namespace, name, template.Labels, &template.Spec)
	}
	for _, volume := range pod.Spec.Volumes {
		if !slices.ContainsFunc(volumes[:len(w.claims)], func(v corev1.Volume) bool { return v.Name == volume.Name }) {
			volumes = append(volumes, volume)
		}
	}
	pod.Spec.Volumes = volumes
}

// addEphemeralClaims makes the claims of a pod's generic ephemeral volumes, as a controller does when the pod
// appears.
func (l *loader) addEphemeralClaims(o origin, pod *corev1.Pod) {
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		if volume.Ephemeral == nil || volume.Ephemeral.VolumeClaimTemplate == nil {
			continue
		}
		template := volume.Ephemeral.VolumeClaimTemplate
		l.addClaim(o, pod.Namespace, pod.Name+"-"+volume.Name, template.Labels, &template.Spec)
	}
}

// addClaim adds an unbound volume claim. It does nothing if the input already has this claim.
func (l *loader) addClaim(o origin, namespace, name string, labels map[string]string, spec *corev1.PersistentVolumeClaimSpec) {
	key := objectKey{groupKind{"", "PersistentVolumeClaim"}, namespace, name}
	if _, exists := l.seen[key]; exists {
		return
	}
	l.seen[key] = o
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       *spec,
		Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	l.objects.persistentVolumeClaims = append(l.objects.persistentVolumeClaims, entry[*corev1.PersistentVolumeClaim]{object: claim, origin: o})
}

// missingClaims adds one warning if pods use volume claims and the input has no such claims. The constraints of the pods' volumes are then
// unknown. It ignores claims that are created together with the pods.
func (l *loader) missingClaims() {
	for _, e := range l.objects.pods {
		if pods.Terminal(e.object) || !l.missesClaim(e.object) {
			continue
		}
		l.warn(e.origin, remark{
			code: WarningClaims, kind: "Pod", name: qualifiedName(e.object),
			message: "the pod uses volumes, but the input has no PersistentVolumeClaims: add them to kubectl get (pvc,pv,sc,csinodes)",
		})
	}
}

// missesClaim reports whether a volume of the pod uses a missing claim.
func (l *loader) missesClaim(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		volume := &pod.Spec.Volumes[i]
		var name string
		switch {
		case volume.PersistentVolumeClaim != nil:
			name = volume.PersistentVolumeClaim.ClaimName
		case volume.Ephemeral != nil:
			name = pod.Name + "-" + volume.Name
		default:
			continue
		}
		if _, seen := l.seen[objectKey{groupKind{"", "PersistentVolumeClaim"}, pod.Namespace, name}]; !seen {
			return true
		}
	}
	return false
}

// resolveStorage sets the default class of claims without a class, and adds missing classes as assumptions. Manifests rarely contain
// objects of the cluster, and a claim without its class could never be bound.
func (l *loader) resolveStorage() {
	known := make(map[string]bool, len(l.objects.storageClasses))
	for _, e := range l.objects.storageClasses {
		known[e.object.Name] = true
	}
	fallback := l.defaultStorageClass()
	for _, e := range l.objects.persistentVolumeClaims {
		claim := e.object
		if claim.Spec.VolumeName != "" {
			continue
		}
		if claim.Spec.StorageClassName == nil {
			name := fallback
			if name == "" {
				name = "default"
			}
			claim.Spec.StorageClassName = &name
		}
		name := *claim.Spec.StorageClassName
		if name == "" || known[name] {
			continue // a claim with an empty class name waits for a manually created volume
		}
		known[name] = true
		l.assumeStorageClass(e, name)
	}
}

func (l *loader) assumeStorageClass(e entry[*corev1.PersistentVolumeClaim], name string) {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{
		ObjectMeta:        metav1.ObjectMeta{Name: name},
		Provisioner:       AssumedProvisioner,
		VolumeBindingMode: &mode,
	}
	l.objects.storageClasses = append(l.objects.storageClasses, entry[*storagev1.StorageClass]{object: class, origin: e.origin})
	l.warn(e.origin, remark{
		code: WarningStorageClass, kind: "PersistentVolumeClaim", name: qualifiedName(e.object), detail: name,
		message: fmt.Sprintf("StorageClass %q is not in the input; taken to make volumes wherever the pod goes", name),
	})
}

// defaultStorageClass returns the newest StorageClass that is marked as the default. If several such classes are equally old, it returns
// the first by name.
func (l *loader) defaultStorageClass() string {
	var best *storagev1.StorageClass
	for _, e := range l.objects.storageClasses {
		class := e.object
		if class.Annotations[isDefaultClass] != "true" {
			continue
		}
		newer := best == nil || best.CreationTimestamp.Before(&class.CreationTimestamp)
		tie := best != nil && best.CreationTimestamp.Equal(&class.CreationTimestamp) && class.Name < best.Name
		if newer || tie {
			best = class
		}
	}
	if best == nil {
		return ""
	}
	return best.Name
}
