package oracle_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/e2e/oracle"
	"github.com/drawknife/drawknife/scheduling"
)

// scene is a cluster of two nodes, "right" in zone-a and "wrong" in zone-b, equal in all else, and pods to place.
type scene struct {
	*scheduling.Snapshot
	right, wrong *corev1.Node
}

func newScene() *scene {
	s := &scene{Snapshot: &scheduling.Snapshot{}}
	s.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
	s.right, s.wrong = s.node("right", "zone-a"), s.node("wrong", "zone-b")
	return s
}

func (s *scene) node(name, zone string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}}}
	n.Status.Allocatable = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("10"),
	}
	s.Nodes = append(s.Nodes, scheduling.Node{Name: name, Object: n})
	return n
}

// pod adds a waiting pod labelled app=a that requests one core.
func (s *scene) pod(name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "a"}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
	}}}
	s.Pods = append(s.Pods, p)
	return p
}

// bound adds a pod that runs on the node.
func (s *scene) bound(name, node string) *corev1.Pod {
	p := s.pod(name)
	s.Pods = s.Pods[:len(s.Pods)-1]
	for i := range s.Nodes {
		if s.Nodes[i].Name == node {
			s.Nodes[i].Pods = append(s.Nodes[i].Pods, p)
		}
	}
	return p
}

// claim gives the pod a claim, bound to a volume of its own unless it is there already.
func (s *scene) claim(pod *corev1.Pod, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}})
	class := ""
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}}}
	c.Spec.StorageClassName, c.Spec.VolumeName = &class, "pv-"+name
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "disk.csi.example.com", VolumeHandle: name}
	v.Spec.AccessModes = c.Spec.AccessModes
	s.PersistentVolumeClaims, s.PersistentVolumes = append(s.PersistentVolumeClaims, c), append(s.PersistentVolumes, v)
	return c, v
}

// place is the plan that puts pods on nodes, given as name after name.
func place(pairs ...string) *scheduling.Plan {
	plan := &scheduling.Plan{}
	for pair := range slices.Chunk(pairs, 2) {
		key := scheduling.PodKey{Namespace: "default", Name: pair[0]}
		plan.Order = append(plan.Order, key)
		at := slices.IndexFunc(plan.Existing, func(n scheduling.ExistingNode) bool { return n.Name == pair[1] })
		if at < 0 {
			at = len(plan.Existing)
			plan.Existing = append(plan.Existing, scheduling.ExistingNode{Name: pair[1]})
		}
		plan.Existing[at].Pods = append(plan.Existing[at].Pods, key)
	}
	return plan
}

func selectApp(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

// TestMutations is the test of the oracle itself: for each plugin a plan that is kept, and the same plan broken in the
// one respect that only the plugins named look at.
func TestMutations(t *testing.T) {
	tests := []struct {
		// plugin that refuses, or several.
		plugin, name string
		set          func(*scene)
		kept, broken *scheduling.Plan
	}{
		{"NodeUnschedulable TaintToleration", "cordoned node", func(s *scene) {
			s.pod("p")
			s.wrong.Spec.Unschedulable = true
		}, place("p", "right"), place("p", "wrong")},
		{"TaintToleration", "untolerated taint", func(s *scene) {
			s.pod("p").Spec.Tolerations = []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpExists}}
			s.right.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
			s.wrong.Spec.Taints = []corev1.Taint{{Key: "b", Effect: corev1.TaintEffectNoExecute}}
		}, place("p", "right"), place("p", "wrong")},
		{"NodeAffinity", "wrong label", func(s *scene) {
			s.pod("p").Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-a"}
		}, place("p", "right"), place("p", "wrong")},
		{"NodePorts", "port clash", func(s *scene) {
			port := []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
			s.pod("p").Spec.Containers[0].Ports = port
			s.pod("q").Spec.Containers[0].Ports = port
		}, place("p", "right", "q", "wrong"), place("p", "right", "q", "right")},
		{"NodeResourcesFit", "too few cores", func(s *scene) {
			s.pod("p").Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
			s.bound("b", "wrong").Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1001m")
		}, place("p", "right"), place("p", "wrong")},
		{"NodeResourcesFit", "one pod too many", func(s *scene) {
			s.pod("p")
			s.pod("q")
			s.right.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("1")
		}, place("p", "right", "q", "wrong"), place("p", "right", "q", "right")},
		{"VolumeRestrictions", "claim for one pod alone", func(s *scene) {
			c, v := s.claim(s.pod("p"), "data")
			c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
			v.Spec.AccessModes = c.Spec.AccessModes
			s.pod("q").Spec.Volumes = s.Pods[0].Spec.Volumes
		}, place("p", "right"), place("p", "right", "q", "right")},
		{"NodeVolumeLimits", "too many volumes", func(s *scene) {
			s.claim(s.pod("p"), "data")
			s.claim(s.bound("b", "wrong"), "other")
			for _, name := range []string{"right", "wrong"} {
				one := int32(1)
				s.CSINodes = append(s.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{
					Drivers: []storagev1.CSINodeDriver{{Name: "disk.csi.example.com", NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &one}}},
				}})
			}
		}, place("p", "right"), place("p", "wrong")},
		{"VolumeBinding", "volume in another zone", func(s *scene) {
			_, v := s.claim(s.pod("p"), "data")
			v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"zone-a"}}},
			}}}}
		}, place("p", "right"), place("p", "wrong")},
		{"VolumeBinding", "class not for this zone", func(s *scene) {
			waiting(s, "p")
		}, place("p", "right"), place("p", "wrong")},
		{"VolumeBinding", "volume made where the first consumer went", func(s *scene) {
			waiting(s, "p").AllowedTopologies[0].MatchLabelExpressions[0].Values = []string{"zone-a", "zone-b"}
			s.pod("q").Spec.Volumes = s.Pods[0].Spec.Volumes
		}, place("p", "right", "q", "right"), place("p", "right", "q", "wrong")},
		{"VolumeZone", "volume labelled with another zone", func(s *scene) {
			_, v := s.claim(s.pod("p"), "data")
			v.Labels = map[string]string{corev1.LabelTopologyZone: "zone-a"}
		}, place("p", "right"), place("p", "wrong")},
		{"PodTopologySpread", "skew", func(s *scene) {
			for _, name := range []string{"p", "q"} {
				s.pod(name).Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selectApp("a"),
				}}
			}
		}, place("p", "right", "q", "wrong"), place("p", "right", "q", "right")},
		{"InterPodAffinity", "anti-affinity", func(s *scene) {
			s.pod("p")
			s.pod("q").Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selectApp("a")}},
			}}
		}, place("p", "right", "q", "wrong"), place("p", "right", "q", "right")},
		{"InterPodAffinity", "anti-affinity of the pod that is there", func(s *scene) {
			s.pod("p")
			s.bound("b", "wrong").Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: selectApp("a")}},
			}}
		}, place("p", "right"), place("p", "wrong")},
		{"InterPodAffinity", "partner elsewhere", func(s *scene) {
			s.bound("b", "right").Labels = map[string]string{"app": "partner"}
			s.pod("p").Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: selectApp("partner")}},
			}}
		}, place("p", "right"), place("p", "wrong")},
		{"InterPodAffinity", "order: the partner comes later", func(s *scene) {
			s.pod("partner").Labels = map[string]string{"app": "partner"}
			s.pod("p").Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: selectApp("partner")}},
			}}
		}, place("partner", "right", "p", "right"), place("p", "right", "partner", "right")},
		{"InterPodAffinity", "matchLabelKeys that no API server has merged", func(s *scene) {
			s.bound("b", "wrong").Labels["version"] = "v1"
			s.bound("c", "right").Labels["version"] = "v2"
			p := s.pod("p")
			p.Labels["version"] = "v1"
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selectApp("a"), MatchLabelKeys: []string{"version"}}},
			}}
		}, place("p", "right"), place("p", "wrong")},
		{"NodeUnschedulable TaintToleration", "cordon whose taint is yet to come, on a node that is initialised", func(s *scene) {
			s.pod("p")
			s.wrong.Labels["karpenter.sh/initialized"] = "true"
			s.wrong.Spec.Unschedulable = true
			s.Nodes[1].Claim = &v1.NodeClaim{}
		}, place("p", "right"), place("p", "wrong")},
		{"NodeAffinity", "none of several terms", func(s *scene) {
			zone := func(zone string) corev1.NodeSelectorTerm {
				return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}
			}
			s.pod("p").Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{zone("zone-c"), zone("zone-a"), {}}, // an empty term matches nothing
			}}}
		}, place("p", "right"), place("p", "wrong")},
		{"NodeResourcesFit", "placeholder", func(s *scene) {
			s.pod("p").Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
			s.pod("buffer").Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
			s.Pods, s.Placeholders = s.Pods[:1], s.Pods[1:]
		}, place("p", "right", "buffer", "wrong"), place("p", "right", "buffer", "right")},
		{"VolumeBinding VolumeZone", "class that binds at once, and has not", func(s *scene) {
			mode := storagev1.VolumeBindingImmediate
			class := waiting(s, "p")
			class.VolumeBindingMode = &mode
			s.pod("q")
		}, place("q", "right"), place("p", "right")},
		{"VolumeBinding", "volume made by hand on another node", func(s *scene) {
			waiting(s, "p").Provisioner = "kubernetes.io/no-provisioner"
			s.StorageClasses[0].AllowedTopologies = nil
			s.PersistentVolumes = []*corev1.PersistentVolume{byHand("waits", "right")}
		}, place("p", "right"), place("p", "wrong")},
		{"PodTopologySpread", "default constraint, selector by Service", func(s *scene) {
			s.pod("p")
			s.pod("q")
			s.Services = []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "a"}}}}
			s.DefaultTopologySpread = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}
		}, place("p", "right", "q", "wrong"), place("p", "right", "q", "right")},
		{"PodTopologySpread", "tainted nodes count unless the policy says otherwise", func(s *scene) {
			s.wrong.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
			honor := corev1.NodeInclusionPolicyHonor
			for _, name := range []string{"p", "q", "r"} {
				s.pod(name).Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selectApp("a"), NodeTaintsPolicy: &honor,
				}}
			}
			s.Pods[2].Spec.TopologySpreadConstraints[0].NodeTaintsPolicy = nil
		}, place("p", "right", "q", "right"), place("p", "right", "r", "right")},
		{"InterPodAffinity", "namespace selector", func(s *scene) {
			s.Namespaces = append(s.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other", Labels: map[string]string{"team": "yes"}}})
			s.bound("b", "wrong").Namespace = "other"
			s.bound("c", "right").Namespace = "third"
			s.pod("p").Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					TopologyKey: corev1.LabelHostname, LabelSelector: selectApp("a"), NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "yes"}},
				}},
			}}
		}, place("p", "right"), place("p", "wrong")},
		{"InterPodAffinity", "mismatchLabelKeys that no API server has merged", func(s *scene) {
			s.bound("b", "wrong").Labels["version"] = "v2"
			s.bound("c", "right").Labels["version"] = "v1"
			p := s.pod("p")
			p.Labels["version"] = "v1"
			p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname, LabelSelector: selectApp("a"), MismatchLabelKeys: []string{"version"}}},
			}}
		}, place("p", "right"), place("p", "wrong")},
	}
	proven := map[string]bool{}
	for _, tt := range tests {
		for _, plugin := range strings.Fields(tt.plugin) {
			proven[plugin] = true
		}
		t.Run(tt.plugin+"/"+tt.name, func(t *testing.T) {
			s := newScene()
			tt.set(s)
			if got := refusing(t, s.Snapshot, tt.kept); len(got) > 0 {
				t.Errorf("the plan that can be kept is refused by %v", got)
			}
			if diff := cmp.Diff(strings.Fields(tt.plugin), refusing(t, s.Snapshot, tt.broken)); diff != "" {
				t.Errorf("plugins that refuse the broken plan (-want +got):\n%s", diff)
			}
		})
	}
	for _, plugin := range oracle.Plugins() {
		// NodeName asks whether a pod was bound by hand; waiting pods never are.
		if !proven[plugin] && plugin != "NodeName" {
			t.Errorf("no mutation proves that %s is asked", plugin)
		}
	}
}

// byHand is a free local volume of the class on the node.
func byHand(class, node string) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "by-hand"}}
	v.Spec.StorageClassName, v.Spec.AccessModes = class, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	v.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	v.Spec.Local = &corev1.LocalVolumeSource{Path: "/disk"}
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
	}}}}
	v.Status.Phase = corev1.VolumeAvailable
	return v
}

// waiting adds a pod with a claim that waits for its first consumer, of a class for zone-a.
func waiting(s *scene, name string) *storagev1.StorageClass {
	c, _ := s.claim(s.pod(name), "data")
	s.PersistentVolumes = nil
	mode, className := storagev1.VolumeBindingWaitForFirstConsumer, "waits"
	c.Annotations, c.Spec.VolumeName, c.Spec.StorageClassName = nil, "", &className
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: className}, Provisioner: "disk.csi.example.com", VolumeBindingMode: &mode}
	class.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: corev1.LabelTopologyZone, Values: []string{"zone-a"}}}}}
	s.StorageClasses = append(s.StorageClasses, class)
	return class
}

// refusing names the plugins that refuse anything in the plan, sorted.
func refusing(t *testing.T, s *scheduling.Snapshot, plan *scheduling.Plan) []string {
	t.Helper()
	choices, err := oracle.Choices(s, plan)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, choice := range choices {
		refusals, err := oracle.Replay(context.Background(), s, plan, choice)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refusals {
			if !slices.Contains(out, r.Plugin) {
				out = append(out, r.Plugin)
			}
		}
	}
	slices.Sort(out)
	return out
}
