package parts

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/scheduling"
)

// DriverName is the CSI driver of the random volumes.
const DriverName = "disks.example.com"

// Label adds a label to the pod.
func Label(key, value string) PodOption {
	return func(p *corev1.Pod) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
}

// Priority sets the pod's priority.
func Priority(n int32) PodOption { return func(p *corev1.Pod) { p.Spec.Priority = &n } }

// SpreadOver adds a topology spread constraint to the pod.
func SpreadOver(c corev1.TopologySpreadConstraint) PodOption {
	return func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c) }
}

// Near sets the pod's required affinity to other pods.
func Near(terms ...corev1.PodAffinityTerm) PodOption {
	return func(p *corev1.Pod) {
		NodeAffinity(p)
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

// Apart sets the pod's required anti-affinity to other pods.
func Apart(terms ...corev1.PodAffinityTerm) PodOption {
	return func(p *corev1.Pod) {
		NodeAffinity(p)
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

// Matching returns a selector for pods with the label.
func Matching(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// Ruled adds random rules to the options of a kind of pod: topology spread, affinity and anti-affinity, host ports, volumes, and a
// priority. kind is the value of the label app of these pods. Other kinds have the values "k0", "k1" and so on.
func Ruled(t *rapid.T, kind string, options []PodOption) []PodOption {
	group := OneOf(t, "g0", "g1")
	options = append(options, Label("app", kind), Label("group", group))
	selector := func() *metav1.LabelSelector {
		switch Number(t, 0, 5) {
		case 0:
			return Matching("group", OneOf(t, "g0", "g1"))
		case 1:
			return Matching("app", OneOf(t, "k0", "k1", "k2"))
		}
		return Matching("app", kind)
	}
	if Chance(t, 3) {
		for range Number(t, 1, 2) {
			c := corev1.TopologySpreadConstraint{
				TopologyKey: OneOf(t, ZoneKey, ZoneKey, ZoneKey, corev1.LabelHostname, CapacityKey, "team"), MaxSkew: int32(Number(t, 1, 2)),
				WhenUnsatisfiable: OneOf(t, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: selector(),
			}
			if Chance(t, 2) && c.WhenUnsatisfiable == corev1.DoNotSchedule {
				n := int32(Number(t, 2, 3))
				c.MinDomains = &n
			}
			if Chance(t, 2) {
				policy := OneOf(t, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
				c.NodeAffinityPolicy = &policy
			}
			if Chance(t, 2) {
				policy := OneOf(t, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
				c.NodeTaintsPolicy = &policy
			}
			options = append(options, SpreadOver(c))
		}
	}
	term := func() corev1.PodAffinityTerm {
		out := corev1.PodAffinityTerm{TopologyKey: OneOf(t, ZoneKey, ZoneKey, corev1.LabelHostname, corev1.LabelHostname, CapacityKey, "team"), LabelSelector: selector()}
		if Chance(t, 1) {
			out.NamespaceSelector = &metav1.LabelSelector{}
		}
		return out
	}
	if Chance(t, 2) {
		options = append(options, Near(term()))
	}
	if Chance(t, 2) {
		options = append(options, Apart(term()))
	}
	if Chance(t, 1) {
		port := corev1.ContainerPort{ContainerPort: 80, HostPort: int32(Number(t, 80, 81)), HostIP: OneOf(t, "", "10.0.0.1", "10.0.0.2")}
		options = append(options, func(p *corev1.Pod) { p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, port) })
	}
	if Draw(t, 20) == 19 {
		readOnly := Chance(t, 5)
		options = append(options, OnDisk(OneOf(t, GCEDisk("d", readOnly), EBSDisk("d", readOnly), ISCSIDisk("d", readOnly),
			RBDDisk("p", "i", readOnly, "m1", "m2"), RBDDisk("p", "i", readOnly, "m2", "m3"))))
	}
	if Chance(t, 2) {
		options = append(options, Priority(int32(Number(t, 0, 2))))
	}
	if Chance(t, 2) {
		options = append(options, Volume(OneOf(t, "bound-a", "bound-b", "bound-ac", "bound-any", "waits", "waits-b"), Chance(t, 3), kind))
	}
	return options
}

// Volume makes the pod use a claim with the given volume binding mode. WithClaims adds the claim to the snapshot later. If shared is true,
// all pods of the kind share one claim. If it is false, each pod has its own claim.
func Volume(mode string, shared bool, kind string) PodOption {
	return func(p *corev1.Pod) {
		claim := "of-" + p.Name
		if shared {
			claim = "of-all-" + kind
		}
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: mode, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
}

// WithClaims adds the claims that the pods name to the snapshot, with their volumes and classes.
func WithClaims(t *rapid.T, s *scheduling.Snapshot) {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	inB := []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: ZoneKey, Values: []string{"b"}}}}}
	s.StorageClasses = []*storagev1.StorageClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Provisioner: DriverName, VolumeBindingMode: &wait},
		{ObjectMeta: metav1.ObjectMeta{Name: "waits-b"}, Provisioner: DriverName, VolumeBindingMode: &wait, AllowedTopologies: inB},
	}
	for i := range s.Nodes {
		for _, p := range s.Nodes[i].Pods {
			MakeClaims(s, p, true)
		}
	}
	for _, p := range s.Pods {
		MakeClaims(s, p, false)
	}
	if len(s.PersistentVolumeClaims) == 0 || !Chance(t, 3) {
		return
	}
	for _, list := range s.Catalogs {
		for _, it := range list {
			it.VolumeLimits = map[string]int32{DriverName: int32(Number(t, 1, 3))}
		}
	}
	for i := range s.Nodes {
		n := int32(Number(t, 0, 3))
		csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: s.Nodes[i].Name}}
		csi.Spec.Drivers = []storagev1.CSINodeDriver{{Name: DriverName, NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: &n}}}
		s.CSINodes = append(s.CSINodes, csi)
	}
}

// MakeClaims adds the missing claims of a pod, and their volumes. If runs is true, the claims are bound.
func MakeClaims(s *scheduling.Snapshot, p *corev1.Pod, runs bool) {
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		there := func(c *corev1.PersistentVolumeClaim) bool { return c.Name == name && c.Namespace == p.Namespace }
		if slices.ContainsFunc(s.PersistentVolumeClaims, there) {
			continue
		}
		pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}}
		mode, zones, isBound := v.Name, "", false
		if zones, isBound = strings.CutPrefix(mode, "bound-"); !isBound && runs {
			isBound, zones = true, "any"
		}
		if !isBound {
			pvc.Spec.StorageClassName = &mode
			s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, pvc)
			continue
		}
		pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "volume-" + name}}
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: DriverName, VolumeHandle: name}
		if zones != "any" {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
			for _, zone := range zones {
				pv.Spec.NodeAffinity.Required.NodeSelectorTerms = append(pv.Spec.NodeAffinity.Required.NodeSelectorTerms,
					corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{In(ZoneKey, string(zone))}})
			}
		}
		pvc.Spec.VolumeName = pv.Name
		pvc.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		s.PersistentVolumes, s.PersistentVolumeClaims = append(s.PersistentVolumes, pv), append(s.PersistentVolumeClaims, pvc)
	}
}

// RandomRuledSnapshot draws a snapshot with every feature that planning supports, including rules between pods, volumes, host ports,
// priorities, minValues and reservations.
func RandomRuledSnapshot(t *rapid.T) *scheduling.Snapshot {
	s := RandomSnapshotOf(t, func(i int) []PodOption { return Ruled(t, fmt.Sprintf("k%d", i), RandomSpec(t)) })
	WithClaims(t, s)
	for i := range s.NodePools {
		if Chance(t, 1) {
			n := Number(t, 1, 2)
			PoolNeeds(OneOf(t, TypeKey, ArchKey, ZoneKey), OpExists)(&s.NodePools[i])
			list := s.NodePools[i].Object.Spec.Template.Spec.Requirements
			list[len(list)-1].MinValues = &n
		}
	}
	if Chance(t, 1) {
		for _, it := range s.Catalogs["types"] {
			if len(it.Offerings) > 0 && Chance(t, 6) {
				o := ReservedOffering(it.Offerings[0].Zone(), OneOf(t, "r0", "r1"), Number(t, 0, 2))
				o.Price = 0.0001
				it.Offerings = append(it.Offerings, o)
			}
		}
	}
	return s
}
