package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/e2e/oracle"
	"github.com/drawknife/drawknife/scheduling"
)

// instanceType is sold on demand in the zones.
func instanceType(name string, cores, gib int64, zones ...string) *cloudprovider.InstanceType {
	t := &cloudprovider.InstanceType{
		Name:         name,
		Requirements: requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, name)),
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(cores, resource.DecimalSI), corev1.ResourceMemory: *resource.NewQuantity(gib<<30, resource.BinarySI), corev1.ResourcePods: resource.MustParse("10"),
		},
	}
	for _, zone := range zones {
		t.Offerings = append(t.Offerings, cloudprovider.Offering{
			Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, zone), requirements.In(v1.CapacityTypeLabelKey, "on-demand")),
			Price:        float64(cores), Available: true,
		})
	}
	return t
}

// planned is a plan with one node for one pod of one core, and the snapshot it belongs to.
func planned(types ...*cloudprovider.InstanceType) (*scheduling.Snapshot, *scheduling.Plan, *corev1.Pod) {
	s := &scene{Snapshot: &scheduling.Snapshot{}}
	p := s.pod("p")
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
	s.NodePools = []scheduling.NodePool{{Key: v1.NewPoolKey("pool"), Object: pool, Catalog: "all"}}
	s.Catalogs = map[string][]*cloudprovider.InstanceType{"all": types}
	key := scheduling.PodKey{Namespace: "default", Name: "p"}
	node := scheduling.NewNode{Name: "pool-1", Pool: v1.NewPoolKey("pool"), Pods: []scheduling.PodKey{key}}
	for _, t := range types {
		node.InstanceTypes = append(node.InstanceTypes, scheduling.InstanceTypeOption{Name: t.Name, Zone: t.Offerings[0].Zone(), CapacityType: "on-demand"})
	}
	return s.Snapshot, &scheduling.Plan{NewNodes: []scheduling.NewNode{node}, Order: []scheduling.PodKey{key}}, p
}

func TestChoicesTryMinimalTypesInEachZone(t *testing.T) {
	s, plan, _ := planned(
		instanceType("cheap", 4, 8, "zone-a", "zone-b"),
		instanceType("few-cores", 2, 16, "zone-b"),
		instanceType("little-memory", 8, 4, "zone-a"),
		instanceType("never-tighter", 8, 16, "zone-a", "zone-b"),
	)
	choices, err := oracle.Choices(s, plan)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range choices {
		if text := c.Options[0].String(); !slices.Contains(got, text) {
			got = append(got, text)
		}
	}
	if got[0] != "cheap/zone-a/on-demand" {
		t.Errorf("the first choice is %s, not what the plan assumes", got[0])
	}
	slices.Sort(got)
	want := []string{"cheap/zone-a/on-demand", "cheap/zone-b/on-demand", "few-cores/zone-b/on-demand", "little-memory/zone-a/on-demand"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes tried (-want +got):\n%s", diff)
	}
}

func TestChoicesPutEqualNodesIntoDifferentZones(t *testing.T) {
	s, plan, _ := planned(instanceType("t", 4, 8, "zone-a", "zone-b", "zone-c"))
	for i := range 2 {
		twin := plan.NewNodes[0]
		twin.Name = fmt.Sprintf("pool-%d", i+2)
		twin.Pods = nil
		plan.NewNodes = append(plan.NewNodes, twin)
	}
	choices, err := oracle.Choices(s, plan)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(choices, func(c oracle.Choice) bool {
		zones := map[string]bool{}
		for _, o := range c.Options {
			zones[o.Offering.Zone()] = true
		}
		return len(zones) == 3
	}) {
		t.Errorf("no choice has the three nodes in three zones: %v", choices)
	}
}

// TestNodeMutations breaks promises about planned nodes: each is kept as the plan assumes, and broken as the
// provider may create it.
func TestNodeMutations(t *testing.T) {
	tests := []struct {
		name   string
		types  []*cloudprovider.InstanceType
		set    func(*scheduling.Snapshot, *scheduling.NewNode, *corev1.Pod)
		plugin string
	}{
		{"nothing broken", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a", "zone-b")}, func(*scheduling.Snapshot, *scheduling.NewNode, *corev1.Pod) {}, ""},
		{"zone left open that the pod does not want", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a", "zone-b")},
			func(_ *scheduling.Snapshot, _ *scheduling.NewNode, p *corev1.Pod) {
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-a"}
			}, "NodeAffinity"},
		{"zone closed by the node's requirements", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a", "zone-b")},
			func(_ *scheduling.Snapshot, n *scheduling.NewNode, p *corev1.Pod) {
				p.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-a"}
				n.Requirements = requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "zone-a"))
			}, ""},
		{"label of the requirements is on the node", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a")},
			func(_ *scheduling.Snapshot, n *scheduling.NewNode, p *corev1.Pod) {
				p.Spec.NodeSelector = map[string]string{"example.com/team": "red"}
				n.Requirements = requirements.NewSet(requirements.In("example.com/team", "red"))
			}, ""},
		{"label left open that the pod wants one value of", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a", "zone-b")},
			func(_ *scheduling.Snapshot, n *scheduling.NewNode, p *corev1.Pod) {
				p.Spec.NodeSelector = map[string]string{"example.com/team": "blue"}
				n.Requirements = requirements.NewSet(requirements.In("example.com/team", "blue", "red"))
			}, "NodeAffinity"},
		{"DaemonSet in one zone takes the room", []*cloudprovider.InstanceType{instanceType("t", 1, 8, "zone-a", "zone-b")},
			func(s *scheduling.Snapshot, _ *scheduling.NewNode, _ *corev1.Pod) {
				set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"}}
				set.Spec.Template.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-b"}
				set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
					Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m")},
				}}}
				s.DaemonSets = append(s.DaemonSets, set)
			}, "NodeResourcesFit"},
		{"taint of the pool", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a")},
			func(s *scheduling.Snapshot, _ *scheduling.NewNode, _ *corev1.Pod) {
				s.NodePools[0].Object.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
			}, "TaintToleration"},
		{"startup taint is gone", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a")},
			func(s *scheduling.Snapshot, _ *scheduling.NewNode, _ *corev1.Pod) {
				s.NodePools[0].Object.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "a", Effect: corev1.TaintEffectNoSchedule}}
			}, ""},
		{"type with fewer attach slots", []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a"), limited(instanceType("u", 3, 8, "zone-a"), 0)},
			func(s *scheduling.Snapshot, _ *scheduling.NewNode, p *corev1.Pod) {
				(&scene{Snapshot: s}).claim(p, "data")
			}, "NodeVolumeLimits"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, plan, pod := planned(tt.types...)
			tt.set(s, &plan.NewNodes[0], pod)
			if got := strings.Join(refusing(t, s, plan), " "); got != tt.plugin {
				t.Errorf("refused by %q, want %q", got, tt.plugin)
			}
		})
	}
}

// overlaid gives the snapshot an overlay that adds the resource to every type.
func overlaid(s *scheduling.Snapshot, name corev1.ResourceName, amount string) {
	s.NodeOverlays = []*v1.NodeOverlay{{ObjectMeta: metav1.ObjectMeta{Name: "o"}, Spec: v1.NodeOverlaySpec{Capacity: corev1.ResourceList{name: resource.MustParse(amount)}}}}
}

// TestChoicesHaveOverlaidCapacity: what only an overlay gives a node is there, as much as the overlay says.
func TestChoicesHaveOverlaidCapacity(t *testing.T) {
	const extra = corev1.ResourceName("example.com/extra")
	for amount, want := range map[string]string{"": "not enough example.com/extra", "1": "not enough example.com/extra", "2": ""} {
		s, plan, pod := planned(instanceType("t", 4, 8, "zone-a"))
		pod.Spec.Containers[0].Resources.Requests[extra] = resource.MustParse("2")
		if amount != "" {
			overlaid(s, extra, amount)
		}
		choices, err := oracle.Choices(s, plan)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("overlay of %q: error %v, want one with %q", amount, err, want)
		case want == "":
			refusals, err := oracle.Replay(t.Context(), s, plan, choices[0])
			if err != nil || len(refusals) > 0 {
				t.Errorf("overlay of %q: refused %v, error %v", amount, refusals, err)
			}
		}
	}
}

func limited(t *cloudprovider.InstanceType, volumes int32) *cloudprovider.InstanceType {
	t.VolumeLimits = map[string]int32{"disk.csi.example.com": volumes}
	return t
}

func TestChoicesRefuseWhatCannotBeBought(t *testing.T) {
	tests := []struct {
		name string
		set  func(*scheduling.Snapshot, *scheduling.NewNode, *corev1.Pod)
		want string
	}{
		{"out of stock", func(s *scheduling.Snapshot, _ *scheduling.NewNode, _ *corev1.Pod) {
			s.Catalogs["all"][0].Offerings[0].Available = false
		}, "no such offering is in stock"},
		{"excluded zone", func(_ *scheduling.Snapshot, n *scheduling.NewNode, _ *corev1.Pod) {
			n.Requirements = requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "zone-b"))
		}, "the node's requirements exclude it"},
		{"too small", func(_ *scheduling.Snapshot, _ *scheduling.NewNode, p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("5")
		}, "not enough cpu"},
		{"unknown type", func(_ *scheduling.Snapshot, n *scheduling.NewNode, _ *corev1.Pod) {
			n.InstanceTypes[0].Name = "other"
		}, "no such type"},
		{"unknown pool", func(_ *scheduling.Snapshot, n *scheduling.NewNode, _ *corev1.Pod) {
			n.Pool.Name = "other"
		}, "the snapshot has no pool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, plan, pod := planned(instanceType("t", 4, 8, "zone-a"))
			tt.set(s, &plan.NewNodes[0], pod)
			if _, err := oracle.Choices(s, plan); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// TestReplayRefusesPlansThatContradictThemselves covers what no plugin would notice.
func TestReplayRefusesPlansThatContradictThemselves(t *testing.T) {
	tests := []struct {
		name string
		set  func(*scheduling.Plan)
		want string
	}{
		{"pod left out of the order", func(p *scheduling.Plan) { p.Order = nil }, "order lacks 1 placed pods"},
		{"pod twice in the order", func(p *scheduling.Plan) { p.Order = append(p.Order, p.Order[0]) }, "twice or without a place"},
		{"pod in two places", func(p *scheduling.Plan) {
			p.Existing = append(p.Existing, scheduling.ExistingNode{Name: "wrong", Pods: p.Order})
		}, "on right and on wrong"},
		{"unknown pod", func(p *scheduling.Plan) {
			p.Existing[0].Pods[0].Name, p.Order[0].Name = "x", "x"
		}, "which the snapshot does not have"},
		{"unknown node", func(p *scheduling.Plan) { p.Existing[0].Name = "x" }, `there is no node "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene()
			s.pod("p")
			plan := place("p", "right")
			tt.set(plan)
			_, err := oracle.Replay(t.Context(), s.Snapshot, plan, oracle.Choice{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
