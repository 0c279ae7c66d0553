package judge_test

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/scheduling"
)

// shop has two types in two zones and pods of each kind of rule.
const shop = `
instanceTypes:
- name: small
  capacity: {cpu: "4", memory: 16Gi, pods: "10"}
  reserved: {cpu: "1"}
  offerings:
  - {zone: zone-a, capacityType: spot, price: 0.1}
  - {zone: zone-a, capacityType: on-demand, price: 0.3}
  - {zone: zone-b, capacityType: spot, price: 0.05, available: false}
  - {zone: zone-b, capacityType: on-demand, price: 0.25}
- name: large
  capacity: {cpu: "16", memory: 64Gi, pods: "40"}
  offerings:
  - {zone: zone-a, capacityType: spot, price: 0.4}
  - {zone: zone-b, capacityType: spot, price: 0.5}
deployments:
- {name: plain, count: 4, requests: {cpu: "1", memory: 1Gi}}
- name: spread
  count: 4
  requests: {cpu: "1"}
  topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]
- name: apart
  count: 2
  requests: {cpu: "1"}
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}
- name: together
  count: 2
  requests: {cpu: "1"}
  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone}]}}
- {name: demanding, count: 1, requests: {cpu: "1"}, nodeSelector: {karpenter.sh/capacity-type: on-demand}}
nodes:
- {instanceType: small, zone: zone-a, capacityType: spot, count: 1, pods: {plain: 2}}
`

func read(t *testing.T, text string) *scheduling.Snapshot {
	t.Helper()
	s, err := scenario.FromText("test", text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Snapshot
}

func in(key string, values ...string) v1.NodeSelectorRequirementWithMinValues {
	return v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func zone(name string) v1.NodeSelectorRequirementWithMinValues {
	return in(corev1.LabelTopologyZone, "zone-"+name)
}

func pods(deployment string, numbers ...int) []string {
	var out []string
	for _, n := range numbers {
		out = append(out, "default/"+deployment+"-0000"+string(rune('0'+n)))
	}
	return out
}

func join(lists ...[]string) []string {
	var out []string
	for _, list := range lists {
		out = append(out, list...)
	}
	return out
}

// sound is a plan for the shop that any cluster accepts.
func sound() *judge.Plan {
	return &judge.Plan{
		NewNodes: []judge.NewNode{
			{Pool: "default", Requirements: []v1.NodeSelectorRequirementWithMinValues{zone("a")}, InstanceTypes: []string{"small", "large"},
				Pods: join(pods("spread", 0, 1), pods("apart", 0))},
			{Pool: "default", Requirements: []v1.NodeSelectorRequirementWithMinValues{zone("b")}, InstanceTypes: []string{"large"},
				Pods: join(pods("spread", 2, 3), pods("apart", 1), pods("together", 0, 1), pods("plain", 1, 2, 3))},
			{Pool: "default", Requirements: []v1.NodeSelectorRequirementWithMinValues{in(v1.CapacityTypeLabelKey, "on-demand")},
				InstanceTypes: []string{"large", "small"}, Pods: pods("demanding", 0)},
		},
		Existing: []judge.ExistingNode{{Name: "node-0-00000", Pods: pods("plain", 0)}},
	}
}

// Nodes cost what the cheapest available offering costs that the plan leaves open: small in zone-a as spot, large in
// zone-b as spot, small in zone-b on demand.
func TestPriceRule(t *testing.T) {
	v := judge.New(read(t, shop)).Check(sound())
	if v.Nodes != 3 || v.Unschedulable != 0 || v.Refusals != nil || v.HourlyCost != 0.1+0.5+0.25 {
		t.Errorf("%+v", v)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*scheduling.Snapshot, *judge.Plan)
		want   string
	}{
		{"no room", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.NewNodes[0].Pods = append(p.NewNodes[0].Pods, pods("plain", 1)...)
			p.NewNodes[1].Pods = p.NewNodes[1].Pods[:5]
			p.Unschedulable = []judge.Unschedulable{{Pod: pods("plain", 2)[0]}, {Pod: pods("plain", 3)[0]}}
		}, "no room: cpu"},
		{"no room next to pods that run", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.Existing[0].Pods = pods("plain", 0, 1)
			p.NewNodes[1].Pods = p.NewNodes[1].Pods[:5]
			p.Unschedulable = []judge.Unschedulable{{Pod: pods("plain", 2)[0]}, {Pod: pods("plain", 3)[0]}}
		}, "no room: cpu"},
		{"node selector", func(_ *scheduling.Snapshot, p *judge.Plan) { p.NewNodes[2].Requirements[0] = zone("a") }, "node selector"},
		{"taint", func(s *scheduling.Snapshot, _ *judge.Plan) {
			s.NodePools[0].Object.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}, "does not tolerate k:NoSchedule"},
		{"spread", func(_ *scheduling.Snapshot, p *judge.Plan) { p.NewNodes[0].Requirements[0] = zone("b") }, "spread over"},
		{"hostname anti-affinity", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.NewNodes[1].Pods = append(p.NewNodes[1].Pods, pods("apart", 0)...)
			p.NewNodes[0].Pods = p.NewNodes[0].Pods[:2]
		}, "anti-affinity"},
		{"affinity", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.NewNodes[0].Pods = join(pods("spread", 0, 1), pods("together", 0))
			p.NewNodes[1].Pods = join(pods("spread", 2, 3), pods("apart", 1), pods("together", 1), pods("plain", 1, 2, 3))
			p.Unschedulable = []judge.Unschedulable{{Pod: pods("apart", 0)[0]}}
		}, "affinity: no pod to be near to"},
		{"forgotten", func(_ *scheduling.Snapshot, p *judge.Plan) { p.Existing = nil }, "plain-00000 is forgotten"},
		{"twice", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.NewNodes[1].Pods = append(p.NewNodes[1].Pods, pods("plain", 0)...)
		}, "planned 2 times"},
		{"placed and left out", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.Unschedulable = []judge.Unschedulable{{Pod: pods("plain", 0)[0]}}
		}, "planned 2 times"},
		{"a stranger", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.Existing[0].Pods = append(p.Existing[0].Pods, "default/stranger")
		}, "does not wait"},
		{"no such pool", func(_ *scheduling.Snapshot, p *judge.Plan) { p.NewNodes[0].Pool = "x" }, "which is not in the workload"},
		{"nothing to buy", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.NewNodes[1].Requirements = append(p.NewNodes[1].Requirements, in(v1.CapacityTypeLabelKey, "on-demand"))
		}, "no available offering"},
		{"no such node", func(_ *scheduling.Snapshot, p *judge.Plan) { p.Existing[0].Name = "x" }, "node x is not there"},
		{"a node that leaves", func(s *scheduling.Snapshot, _ *judge.Plan) { s.Nodes[0].Leaving = true }, "is not there, or leaving"},
		{"an empty node", func(_ *scheduling.Snapshot, p *judge.Plan) {
			p.NewNodes = append(p.NewNodes, judge.NewNode{Pool: "default", InstanceTypes: []string{"small"}})
		}, "launched for no pod"},
		{"limits", func(s *scheduling.Snapshot, _ *judge.Plan) {
			s.NodePools[0].Object.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("27")}
		}, "over its limit of 27 cpu"},
		{"host port", func(s *scheduling.Snapshot, _ *judge.Plan) {
			for _, pod := range s.Pods {
				if pod.Labels["app"] == "together" {
					pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
				}
			}
		}, "a host port is taken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, p := read(t, shop), sound()
			c.change(s, p)
			got := judge.New(s).Check(p).Refusals
			if !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("refusals are %q, want one with %q", got, c.want)
			}
		})
	}
}

// Limits that are met exactly are kept: 4 + 16 + 4 CPUs to launch in addition to 4 that are there.
func TestLimitsThatAreMet(t *testing.T) {
	s := read(t, shop)
	s.NodePools[0].Object.Spec.Limits = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("28"), corev1.ResourceMemory: resource.MustParse("112Gi"), v1.ResourceNodes: resource.MustParse("4"),
	}
	if got := judge.New(s).Check(sound()).Refusals; got != nil {
		t.Error(got)
	}
}

// Pods are bound in whatever order works: here each zone takes one more than the other before the next.
func TestOrderIsFound(t *testing.T) {
	p := sound()
	p.Order = join(pods("spread", 0, 1, 2, 3), pods("together", 0, 1), pods("apart", 0, 1))
	if got := judge.New(read(t, shop)).Check(p).Refusals; got != nil {
		t.Error(got)
	}
}

// Pods that run count, and keep others away, also for pods that stand behind others on their node.
func TestPodsThatRun(t *testing.T) {
	const text = `
instanceTypes:
- name: small
  capacity: {cpu: "4", memory: 16Gi, pods: "10"}
  offerings: [{zone: a, capacityType: spot, price: 1}, {zone: b, capacityType: spot, price: 1}]
deployments:
- name: first
  count: 1
  topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 5, whenUnsatisfiable: DoNotSchedule}]
- name: spread
  count: 1
  topologySpreadConstraints: [{topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]
- name: lonely
  count: 0
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: shy}}}]}}
- {name: shy, count: 1}
nodes:
- {instanceType: small, zone: a, capacityType: spot, count: 1, pods: {spread: 1, lonely: 1}}
- {instanceType: small, zone: b, capacityType: spot, count: 1}
`
	plan := func(spread, shy string) *judge.Plan {
		where := map[string][]string{"a": nil, "b": nil}
		where["a"] = pods("first", 0)
		where[spread] = append(where[spread], pods("spread", 0)...)
		where[shy] = append(where[shy], pods("shy", 0)...)
		return &judge.Plan{Existing: []judge.ExistingNode{{Name: "node-0-00000", Pods: where["a"]}, {Name: "node-1-00000", Pods: where["b"]}}}
	}
	j := judge.New(read(t, text))
	for _, c := range []struct{ spread, shy, want string }{
		{"b", "b", ""},
		{"a", "b", "spread over"},
		{"b", "a", "anti-affinity of a pod"},
	} {
		got := strings.Join(j.Check(plan(c.spread, c.shy)).Refusals, "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("spread in %s, shy in %s: %q, want %q", c.spread, c.shy, got, c.want)
		}
	}
}

// DaemonSets take their room, on new nodes and on those where their pods don't run yet.
func TestDaemonSets(t *testing.T) {
	s, p := read(t, shop), sound()
	set := &appsv1.DaemonSet{}
	set.Name, set.Namespace = "agent", "default"
	set.Spec.Template.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
	}}}
	s.DaemonSets = []*appsv1.DaemonSet{set}
	got := strings.Join(judge.New(s).Check(p).Refusals, "\n")
	for _, want := range []string{"on new-0: no room: cpu", "on node-0-00000: no room: cpu"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	s.Nodes[0].Pods[0].OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent"}}
	if got := strings.Join(judge.New(s).Check(p).Refusals, "\n"); strings.Contains(got, "node-0") {
		t.Errorf("its pod runs there already: %q", got)
	}
}

// The bound is proven again and is about as good as the one the planner states.
func TestBoundOfScenarios(t *testing.T) {
	for _, c := range []struct {
		name  string
		share float64
	}{{"a", 0.999}, {"b", 0.999}, {"c", 0.9}, {"d", 0.99}, {"g", 0.999}} {
		s, err := scenario.Generated(c.name, 200, 3)
		if err != nil {
			t.Fatal(err)
		}
		model, err := scheduling.Compile(s.Snapshot)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := model.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, pod := range s.Snapshot.Pods {
			all = append(all, pod.Namespace+"/"+pod.Name)
		}
		j := judge.New(s.Snapshot)
		if got := j.Bound(plan.Certificate, all); got < c.share*plan.LowerBound || got > plan.HourlyCost {
			t.Errorf("%s: bound %v, the planner states %v, the plan costs %v", c.name, got, plan.LowerBound, plan.HourlyCost)
		}
		if got := j.Bound(nil, all); got != 0 {
			t.Errorf("%s: without a hint the bound is %v", c.name, got)
		}
	}
}

// What nodes that are there can take is no part of the bound: with room for all pods it is 0.
func TestBoundWithNodesThatAreThere(t *testing.T) {
	text := strings.Replace(shop, "count: 1, pods: {plain: 2}", "count: 20", 1)
	empty := strings.Replace(shop, "count: 1, pods: {plain: 2}", "count: 0", 1)
	model, err := scheduling.Compile(read(t, empty))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	all := join(pods("plain", 0, 1, 2, 3), pods("spread", 0, 1, 2, 3), pods("apart", 0, 1), pods("together", 0, 1))
	if got := judge.New(read(t, empty)).Bound(plan.Certificate, all); got <= 0 {
		t.Errorf("without nodes it is %v", got)
	}
	if got := judge.New(read(t, text)).Bound(plan.Certificate, all); got != 0 {
		t.Errorf("with 20 nodes it is %v", got)
	}
}

// gpus is a workload of large pods, few of which share a node.
const gpus = `
instanceTypes:
- name: gpu
  capacity: {cpu: "64", memory: 118Gi, pods: "110", nvidia.com/gpu: "2"}
  offerings: [{zone: zone-a, capacityType: on-demand, price: 0.326}]
- name: plain
  capacity: {cpu: "64", memory: 500Gi, pods: "110"}
  offerings: [{zone: zone-a, capacityType: on-demand, price: 0.4}]
deployments:
- {name: large, count: 70, requests: {cpu: "11", memory: 52Gi, nvidia.com/gpu: "1"}}
- {name: medium, count: 80, requests: {cpu: "14", memory: 41Gi, nvidia.com/gpu: "1"}}
- {name: without, count: 90, requests: {cpu: "12", memory: 60Gi}}
`

// A bound that counts whole pods is proven here as well; without its counts it would be lost.
func TestBoundByWholePods(t *testing.T) {
	s := read(t, gpus)
	model, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, pod := range s.Pods {
		all = append(all, pod.Namespace+"/"+pod.Name)
	}
	j := judge.New(s)
	if got := j.Bound(plan.Certificate, all); got < 0.999*plan.LowerBound || got > plan.HourlyCost {
		t.Errorf("bound %v, the planner states %v, the plan costs %v", got, plan.LowerBound, plan.HourlyCost)
	}
	counted := false
	for i := range plan.Certificate.Types {
		counted = counted || len(plan.Certificate.Types[i].Whole) > 0
		plan.Certificate.Types[i].Whole = nil
	}
	if got := j.Bound(plan.Certificate, all); !counted || got >= 0.999*plan.LowerBound {
		t.Errorf("whole pods are counted: %v; without the counts the bound is still %v of %v", counted, got, plan.LowerBound)
	}
}
