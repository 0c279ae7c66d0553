package planvalidator_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
)

func term(app, key string) []corev1.PodAffinityTerm {
	return []corev1.PodAffinityTerm{{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}, TopologyKey: key}}
}

func follow(p *corev1.Pod, terms []corev1.PodAffinityTerm) {
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
}

func avoid(p *corev1.Pod, terms []corev1.PodAffinityTerm) {
	p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
}

func spread(p *corev1.Pod, key string, minDomains int32) {
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: key, MinDomains: &minDomains, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "w"}},
	}}
}

func port(p *corev1.Pod, ip string) {
	p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, HostIP: ip}}
}

func claim(p *corev1.Pod, name string) {
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}})
}

// A pod w waits, a pod x is bound in zone a of the zones a and b, each with a node. The plan puts w next to x, and is told
// why that can't be; without it, the plan is told that it can, or not.
func TestRulesBetweenPods(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *scheduling.Snapshot, w, x *corev1.Pod)
		// refused is what keeps w from where x is; empty for nothing.
		refused string
		// elsewhere says that w has a place in zone b.
		elsewhere bool
	}{
		{"nothing", func(*scheduling.Snapshot, *corev1.Pod, *corev1.Pod) {}, "", true},
		{"SCH-125 spread over zones", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) { spread(w, corev1.LabelTopologyZone, 1) }, "spread over", true},
		{"SCH-125 minDomains", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) { spread(w, corev1.LabelTopologyZone, 3) }, "spread over", true},
		{"SCH-127 spread over nodes", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) { spread(w, corev1.LabelHostname, 1) }, "spread over", true},
		{"SCH-113 no such label", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) { spread(w, "rack", 1) }, "no domain rack", false},
		{"SCH-121 terminating pods don't count for spreads", func(_ *scheduling.Snapshot, w, x *corev1.Pod) {
			spread(w, corev1.LabelTopologyZone, 1)
			x.DeletionTimestamp = &metav1.Time{}
		}, "", true},
		{"SCH-130 affinity", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) { follow(w, term("w", corev1.LabelTopologyZone)) }, "", false},
		{"SCH-130 affinity to nobody", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) { follow(w, term("nobody", corev1.LabelTopologyZone)) }, "pod affinity", false},
		{"SCH-130 the first of its kind", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) {
			w.Labels["app"] = "first"
			follow(w, term("first", corev1.LabelTopologyZone))
		}, "", true},
		{"SCH-135 anti-affinity", func(_ *scheduling.Snapshot, w, _ *corev1.Pod) { avoid(w, term("w", corev1.LabelTopologyZone)) }, "anti-affinity by", true},
		{"SCH-136 the anti-affinity of others", func(_ *scheduling.Snapshot, _, x *corev1.Pod) { avoid(x, term("w", corev1.LabelTopologyZone)) }, "anti-affinity of x", true},
		{"SCH-117 another namespace", func(_ *scheduling.Snapshot, w, x *corev1.Pod) {
			x.Namespace = "other"
			avoid(w, term("w", corev1.LabelTopologyZone))
		}, "", true},
		{"SCH-107 host ports", func(_ *scheduling.Snapshot, w, x *corev1.Pod) { port(w, ""); port(x, "10.0.0.1") }, "port 80", true},
		{"SCH-107 on other addresses", func(_ *scheduling.Snapshot, w, x *corev1.Pod) { port(w, "10.0.0.2"); port(x, "10.0.0.1") }, "", true},
		{"SCH-101 a volume elsewhere", func(s *scheduling.Snapshot, w, _ *corev1.Pod) { claim(w, "b") }, "a volume is elsewhere", true},
		{"SCH-105 an attach limit", func(s *scheduling.Snapshot, w, x *corev1.Pod) { claim(w, "any"); claim(x, "other") }, "too many volumes", true},
		{"SCH-105 the same volume", func(s *scheduling.Snapshot, w, x *corev1.Pod) { claim(w, "any"); claim(x, "any") }, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, x := pod("w", "100m"), pod("x", "100m")
			w.Labels, x.Labels = map[string]string{"app": "w"}, map[string]string{"app": "w"}
			s := &scheduling.Snapshot{Pods: []*corev1.Pod{w}}
			for _, zone := range []string{"a", "b"} {
				n := &corev1.Node{}
				n.Name, n.Labels = zone, map[string]string{corev1.LabelTopologyZone: zone}
				n.Status.Allocatable = build.Amounts("cpu", "2", "memory", "8Gi", "pods", "10")
				s.Nodes = append(s.Nodes, scheduling.Node{Name: zone, Object: n})
				one := int32(1)
				csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: zone}}
				csi.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "disks", Allocatable: &storagev1.VolumeNodeResources{Count: &one}}}
				s.CSINodes = append(s.CSINodes, csi)
			}
			s.Nodes[0].Pods = []*corev1.Pod{x}
			for _, name := range []string{"any", "other", "b"} {
				pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
				pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "disks", VolumeHandle: name}
				if name == "b" {
					pv.Labels = map[string]string{corev1.LabelTopologyZone: "b"}
				}
				pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
				pvc.Spec.VolumeName = name
				s.PersistentVolumes, s.PersistentVolumeClaims = append(s.PersistentVolumes, pv), append(s.PersistentVolumeClaims, pvc)
			}
			c.change(s, w, x)
			key := scheduling.PodKey{Namespace: "default", Name: "w"}
			on := func(node string) string {
				return strings.TrimSpace(faults(s, &scheduling.Plan{Order: []scheduling.PodKey{key}, Existing: []scheduling.ExistingNode{{Name: node, Pods: []scheduling.PodKey{key}}}}))
			}
			if got := on("a"); (c.refused == "") != (got == "") || !strings.Contains(got, c.refused) {
				t.Errorf("in zone a: %q, want %q", got, c.refused)
			}
			if got := on("b"); (got == "") != c.elsewhere {
				t.Errorf("in zone b: %q, want a place: %v", got, c.elsewhere)
			}
			got := faults(s, &scheduling.Plan{Unschedulable: []scheduling.Unschedulable{{Pod: key, Reasons: []scheduling.Reason{{Code: scheduling.ReasonTopology, Detail: "it does not fit"}}}}})
			if has := strings.Contains(got, "has no place, but"); has != (c.refused == "" || c.elsewhere) {
				t.Errorf("without a place: %q", got)
			}
		})
	}
}

func faults(s *scheduling.Snapshot, p *scheduling.Plan) string {
	var lines []string
	for _, fault := range planvalidator.Check(s, p) {
		lines = append(lines, fault.Error())
	}
	return strings.Join(lines, "\n")
}
