package scheduling_test

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

const driverName = "disks.example.com"

func label(key, value string) podOption {
	return func(p *corev1.Pod) {
		if p.Labels == nil {
			p.Labels = map[string]string{}
		}
		p.Labels[key] = value
	}
}

func priority(n int32) podOption { return func(p *corev1.Pod) { p.Spec.Priority = &n } }

func spreadOver(c corev1.TopologySpreadConstraint) podOption {
	return func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c) }
}

func near(terms ...corev1.PodAffinityTerm) podOption {
	return func(p *corev1.Pod) {
		nodeAffinity(p)
		p.Spec.Affinity.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

func apart(terms ...corev1.PodAffinityTerm) podOption {
	return func(p *corev1.Pod) {
		nodeAffinity(p)
		p.Spec.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}
	}
}

func matching(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// ruled adds rules between pods to a kind of pod: constraints on its spread, affinity and anti-affinity, host ports,
// volumes, a priority. kind is the value of its label app; other kinds have "k0" and on.
func ruled(t *rapid.T, kind string, options []podOption) []podOption {
	group := oneOf(t, "g0", "g1")
	options = append(options, label("app", kind), label("group", group))
	selector := func() *metav1.LabelSelector {
		switch number(t, 0, 5) {
		case 0:
			return matching("group", oneOf(t, "g0", "g1"))
		case 1:
			return matching("app", oneOf(t, "k0", "k1", "k2"))
		}
		return matching("app", kind)
	}
	if chance(t, 3) {
		for range number(t, 1, 2) {
			c := corev1.TopologySpreadConstraint{
				TopologyKey: oneOf(t, zoneKey, zoneKey, zoneKey, corev1.LabelHostname, capacityKey, "team"), MaxSkew: int32(number(t, 1, 2)),
				WhenUnsatisfiable: oneOf(t, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: selector(),
			}
			if chance(t, 2) && c.WhenUnsatisfiable == corev1.DoNotSchedule {
				n := int32(number(t, 2, 3))
				c.MinDomains = &n
			}
			if chance(t, 2) {
				policy := oneOf(t, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
				c.NodeAffinityPolicy = &policy
			}
			if chance(t, 2) {
				policy := oneOf(t, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
				c.NodeTaintsPolicy = &policy
			}
			options = append(options, spreadOver(c))
		}
	}
	term := func() corev1.PodAffinityTerm {
		out := corev1.PodAffinityTerm{TopologyKey: oneOf(t, zoneKey, zoneKey, corev1.LabelHostname, corev1.LabelHostname, capacityKey, "team"), LabelSelector: selector()}
		if chance(t, 1) {
			out.NamespaceSelector = &metav1.LabelSelector{}
		}
		return out
	}
	if chance(t, 2) {
		options = append(options, near(term()))
	}
	if chance(t, 2) {
		options = append(options, apart(term()))
	}
	if chance(t, 1) {
		port := corev1.ContainerPort{ContainerPort: 80, HostPort: int32(number(t, 80, 81)), HostIP: oneOf(t, "", "10.0.0.1", "10.0.0.2")}
		options = append(options, func(p *corev1.Pod) { p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, port) })
	}
	if draw(t, 20) == 19 {
		readOnly := chance(t, 5)
		options = append(options, onDisk(oneOf(t, gceDisk("d", readOnly), ebsDisk("d", readOnly), iscsiDisk("d", readOnly),
			rbdDisk("p", "i", readOnly, "m1", "m2"), rbdDisk("p", "i", readOnly, "m2", "m3"))))
	}
	if chance(t, 2) {
		options = append(options, priority(int32(number(t, 0, 2))))
	}
	if chance(t, 2) {
		options = append(options, volume(oneOf(t, "bound-a", "bound-b", "bound-ac", "bound-any", "waits", "waits-b"), chance(t, 3), kind))
	}
	return options
}

// volume gives the pod a claim of the mode, which withClaims makes: its own, or one that all of its kind share.
func volume(mode string, shared bool, kind string) podOption {
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

// withClaims makes the claims, volumes and classes that the pods speak of.
func withClaims(t *rapid.T, s *scheduling.Snapshot) {
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	inB := []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneKey, Values: []string{"b"}}}}}
	s.StorageClasses = []*storagev1.StorageClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "waits"}, Provisioner: driverName, VolumeBindingMode: &wait},
		{ObjectMeta: metav1.ObjectMeta{Name: "waits-b"}, Provisioner: driverName, VolumeBindingMode: &wait, AllowedTopologies: inB},
	}
	for i := range s.Nodes {
		for _, p := range s.Nodes[i].Pods {
			makeClaims(s, p, true)
		}
	}
	for _, p := range s.Pods {
		makeClaims(s, p, false)
	}
	if len(s.PersistentVolumeClaims) == 0 || !chance(t, 3) {
		return
	}
	for _, list := range s.Catalogs {
		for _, it := range list {
			it.VolumeLimits = map[string]int32{driverName: int32(number(t, 1, 3))}
		}
	}
	for i := range s.Nodes {
		n := int32(number(t, 0, 3))
		csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: s.Nodes[i].Name}}
		csi.Spec.Drivers = []storagev1.CSINodeDriver{{Name: driverName, NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: &n}}}
		s.CSINodes = append(s.CSINodes, csi)
	}
}

// makeClaims makes the claims of a pod that are not there yet, and their volumes: those of a pod that runs are bound.
func makeClaims(s *scheduling.Snapshot, p *corev1.Pod, runs bool) {
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
		pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: name}
		if zones != "any" {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
			for _, zone := range zones {
				pv.Spec.NodeAffinity.Required.NodeSelectorTerms = append(pv.Spec.NodeAffinity.Required.NodeSelectorTerms,
					corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{in(zoneKey, string(zone))}})
			}
		}
		pvc.Spec.VolumeName = pv.Name
		pvc.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		s.PersistentVolumes, s.PersistentVolumeClaims = append(s.PersistentVolumes, pv), append(s.PersistentVolumeClaims, pvc)
	}
}

// randomRuledSnapshot is a random snapshot with everything that planning knows: also rules between pods, volumes, host
// ports, priorities, minValues and reservations.
func randomRuledSnapshot(t *rapid.T) *scheduling.Snapshot {
	s := randomSnapshotOf(t, func(i int) []podOption { return ruled(t, fmt.Sprintf("k%d", i), randomSpec(t)) })
	withClaims(t, s)
	for i := range s.NodePools {
		if chance(t, 1) {
			n := number(t, 1, 2)
			poolNeeds(oneOf(t, typeKey, archKey, zoneKey), opExists)(&s.NodePools[i])
			list := s.NodePools[i].Object.Spec.Template.Spec.Requirements
			list[len(list)-1].MinValues = &n
		}
	}
	if chance(t, 1) {
		for _, it := range s.Catalogs["types"] {
			if len(it.Offerings) > 0 && chance(t, 6) {
				o := reservedOffering(it.Offerings[0].Zone(), oneOf(t, "r0", "r1"), number(t, 0, 2))
				o.Price = 0.0001
				it.Offerings = append(it.Offerings, o)
			}
		}
	}
	return s
}
