package scheduling_test

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// The pods of these tests state topology rules about pods with their own value of the label app, or of another.

func closeTo(key, app string) podOption {
	return func(p *corev1.Pod) {
		if p.Spec.Affinity == nil {
			p.Spec.Affinity = &corev1.Affinity{}
		}
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: key, LabelSelector: selecting(app)},
		}}
	}
}

func onHostPort(port int32) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, corev1.ContainerPort{ContainerPort: port, HostPort: port})
	}
}

// claiming makes the pod use the claim of the name.
func claiming(name string) podOption {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
}

// boundVolume adds a claim with a volume of the zone to the snapshot.
func boundVolume(s *scheduling.Snapshot, name, zone string) {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name}}
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: name}
	pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{in(zoneKey, zone)}},
	}}}
	class := "standard"
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}}
	pvc.Spec.VolumeName, pvc.Spec.StorageClassName = pv.Name, &class
	pvc.Status.Phase = corev1.ClaimBound
	pv.Spec.StorageClassName = class
	pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: name}
	s.PersistentVolumes = append(s.PersistentVolumes, pv)
	s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, pvc)
	if len(s.StorageClasses) == 0 {
		mode := storagev1.VolumeBindingImmediate
		s.StorageClasses = append(s.StorageClasses, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: class}, Provisioner: "csi.example.com", VolumeBindingMode: &mode})
	}
}

func shut(o cloudprovider.Offering) cloudprovider.Offering { o.Available = false; return o }
