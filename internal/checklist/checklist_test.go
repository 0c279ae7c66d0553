package checklist

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/scheduling"
)

const oneCore = "{requests: {cpu: 1}}"

// TestInflate is S1-028: nothing is launched for no replicas, nodes for five.
func TestInflate(t *testing.T) {
	pool := nodePool("default", "      requirements: []\n", "")
	if none := plan(t, pool+inflate("inflate", "0", oneCore, "")); len(none.NewNodes) != 0 || len(none.Unschedulable) != 0 {
		t.Errorf("planned for no replicas: %d nodes, %d pods without a place", len(none.NewNodes), len(none.Unschedulable))
	}
	five := plan(t, pool+inflate("inflate", "5", oneCore, ""))
	five.wantAllPlaced(t)
	pods := 0
	for _, node := range five.NewNodes {
		pods += len(node.Pods)
	}
	if pods != 5 {
		t.Errorf("%d pods are placed, want 5", pods)
	}
}

// TestManyTypesInOnePool is S0-009: pods of different shapes get nodes of different types from one pool.
func TestManyTypesInOnePool(t *testing.T) {
	p := plan(t, nodePool("default", "      requirements: []\n", "")+
		inflate("cores", "1", "{requests: {cpu: 40, memory: 1Gi}}", "")+
		inflate("memory", "1", "{requests: {cpu: 1, memory: 200Gi}}", "")+
		inflate("gpu", "1", "{requests: {cpu: 1, nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}", ""))
	p.wantAllPlaced(t)
	types := make(map[string]bool)
	for _, node := range p.NewNodes {
		if node.Pool.Name != "default" {
			t.Errorf("%s is of pool %s", node.Name, node.Pool)
		}
		types[node.InstanceTypes[0].Name] = true
	}
	if len(types) < 2 {
		t.Errorf("all nodes are %v", types)
	}
}

// TestRequirementsOfAPool holds what a pool may launch to its requirements, one row of the checklist a case.
func TestRequirementsOfAPool(t *testing.T) {
	family := func(name string) string { f, _, _ := strings.Cut(name, "."); return f }
	size := func(name string) string { _, s, _ := strings.Cut(name, "."); return s }
	for _, c := range []struct {
		name         string
		requirements string
		zones        []string
		// keeps reports whether a type and its offering meet the requirement.
		keeps func(o scheduling.InstanceTypeOption, t *catalog.Type) bool
	}{
		{"S0-014 instance category", `[{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}]`, nil,
			func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool {
				return strings.ContainsAny(o.Name[:1], "cmr")
			}},
		{"S1-022 spot", `[{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]`, nil,
			func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool { return o.CapacityType == "spot" }},
		{"S3-065 on-demand", `[{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]`, nil,
			func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool { return o.CapacityType == "on-demand" }},
		{"S3-066 instance family", `[{key: karpenter.k8s.aws/instance-family, operator: In, values: [t3a]}]`, nil,
			func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool { return family(o.Name) == "t3a" }},
		{"S3-067 instance size", `[{key: karpenter.k8s.aws/instance-size, operator: In, values: [nano, micro, small, medium, large, xlarge]}]`, nil,
			func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool {
				return slices.Contains([]string{"nano", "micro", "small", "medium", "large", "xlarge"}, size(o.Name))
			}},
		{"S3-069 architecture", `[{key: kubernetes.io/arch, operator: In, values: [amd64]}]`, nil,
			func(_ scheduling.InstanceTypeOption, t *catalog.Type) bool {
				return slices.Contains(t.Architectures, "x86_64")
			}},
		{"S3-070 zones", `[{key: topology.kubernetes.io/zone, operator: In, values: [ap-northeast-2a, ap-northeast-2c]}]`,
			[]string{"ap-northeast-2b", "ap-northeast-2a", "ap-northeast-2d", "ap-northeast-2c"},
			func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool {
				return o.Zone == "ap-northeast-2a" || o.Zone == "ap-northeast-2c"
			}},
		{"S3-061 instance type by its old label", `[{key: beta.kubernetes.io/instance-type, operator: In, values: [t3a.medium, t3a.xlarge]}]`, nil,
			func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool {
				return o.Name == "t3a.medium" || o.Name == "t3a.xlarge"
			}},
		{"S1-072 all layers at once", `[{key: karpenter.k8s.aws/instance-family, operator: In, values: [m5, c5]}, {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]`, nil,
			func(o scheduling.InstanceTypeOption, t *catalog.Type) bool {
				return (family(o.Name) == "m5" || family(o.Name) == "c5") && o.CapacityType == "on-demand" && t.VCPUs >= 2
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(t, nodePool("default", "      requirements: "+c.requirements+"\n", "")+inflate("inflate", "7", oneCore, ""), c.zones...)
			p.wantAllPlaced(t)
			p.eachType(t, func(o scheduling.InstanceTypeOption, facts *catalog.Type) string {
				if !c.keeps(o, facts) {
					return "the pool does not allow it"
				}
				return ""
			})
			// Without the requirement something else would do as well, or the case proved nothing.
			without := plan(t, nodePool("default", "      requirements: []\n", "")+inflate("inflate", "7", oneCore, ""), c.zones...)
			matters := false
			without.eachType(t, func(o scheduling.InstanceTypeOption, facts *catalog.Type) string {
				matters = matters || !c.keeps(o, facts)
				return ""
			})
			if !matters {
				t.Error("the plan keeps the requirement without being asked to")
			}
		})
	}
}

// TestOperatingSystemOfAPool is S3-068: the built-in default class runs Linux, so a pool for another system launches
// nothing.
func TestOperatingSystemOfAPool(t *testing.T) {
	for system, placed := range map[string]bool{"linux": true, "windows": false} {
		p := plan(t, nodePool("default", "      requirements: [{key: kubernetes.io/os, operator: In, values: ["+system+"]}]\n", "")+
			inflate("inflate", "1", oneCore, ""))
		if got := len(p.Unschedulable) == 0; got != placed {
			t.Errorf("%s: all pods placed: %v, want %v", system, got, placed)
		}
	}
}

// TestWellKnownLabelsOfPods is S1-034: a pod asks for a type, an architecture or an operating system by label.
func TestWellKnownLabelsOfPods(t *testing.T) {
	pool := nodePool("default", "      requirements: []\n", "")
	for selector, keeps := range map[string]func(o scheduling.InstanceTypeOption, facts *catalog.Type) bool{
		"node.kubernetes.io/instance-type: m5.2xlarge": func(o scheduling.InstanceTypeOption, _ *catalog.Type) bool { return o.Name == "m5.2xlarge" },
		"kubernetes.io/arch: arm64": func(_ scheduling.InstanceTypeOption, f *catalog.Type) bool {
			return slices.Contains(f.Architectures, "arm64")
		},
		"kubernetes.io/arch: amd64": func(_ scheduling.InstanceTypeOption, f *catalog.Type) bool {
			return slices.Contains(f.Architectures, "x86_64")
		},
		"kubernetes.io/os: linux": func(scheduling.InstanceTypeOption, *catalog.Type) bool { return true },
	} {
		t.Run(selector, func(t *testing.T) {
			p := plan(t, pool+inflate("inflate", "2", oneCore, "      nodeSelector: {"+selector+"}"))
			p.wantAllPlaced(t)
			p.eachType(t, func(o scheduling.InstanceTypeOption, facts *catalog.Type) string {
				if !keeps(o, facts) {
					return "the pods don't want it"
				}
				return ""
			})
		})
	}
	t.Run("kubernetes.io/os: windows", func(t *testing.T) {
		p := plan(t, pool+inflate("inflate", "1", oneCore, "      nodeSelector: {kubernetes.io/os: windows}"))
		if len(p.NewNodes) != 0 {
			t.Errorf("planned %v", p.NewNodes[0].InstanceTypes)
		}
	})
}

// TestLegacyTaint is S0-047: with the old pool tainted, nodes come from the new one, however cheap the old one is.
func TestLegacyTaint(t *testing.T) {
	p := plan(t, nodePool("old", "      taints: [{key: karpenter.sh/legacy, value: \"true\", effect: NoSchedule}]\n      requirements: []\n", "  weight: 50\n")+
		nodePool("new", "      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]\n", "")+
		inflate("inflate", "3", oneCore, ""))
	p.wantAllPlaced(t)
	for _, node := range p.NewNodes {
		if node.Pool.Name != "new" {
			t.Errorf("%s is of pool %s", node.Name, node.Pool)
		}
	}
}

// defaultAndBanana are the two pools of the checklist's story: one for all, and one of more weight for pods that bear its
// taint.
func defaultAndBanana() string {
	return nodePool("default", "      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]\n", "  limits: {cpu: 1000}\n") +
		strings.Replace(nodePool("banana", `      taints: [{key: example.com/special-taint, effect: NoSchedule}]
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: ["on-demand"]}]
`, "  limits: {cpu: 1000}\n  weight: 10\n"), "  template:\n", "  template:\n    metadata: {labels: {billing-team: my-team}}\n", 1)
}

// TestBanana is S1-052 and S1-055: pods that don't tolerate the taint go to the pool without it; those that do match both,
// and the weight decides.
func TestBanana(t *testing.T) {
	p := plan(t, defaultAndBanana()+inflate("plain", "3", oneCore, "")+
		inflate("tolerant", "3", oneCore, "      tolerations: [{key: example.com/special-taint, operator: Exists, effect: NoSchedule}]"))
	p.wantAllPlaced(t)
	for _, node := range p.NewNodes {
		for _, pod := range node.Pods {
			want := "default"
			if strings.HasPrefix(pod.Name, "tolerant") {
				want = "banana"
			}
			if node.Pool.Name != want {
				t.Errorf("%s is in pool %s, want %s", pod, node.Pool, want)
			}
		}
	}
	selected := plan(t, defaultAndBanana()+inflate("selecting", "1", oneCore,
		"      nodeSelector: {billing-team: my-team}\n      tolerations: [{key: example.com/special-taint, operator: Exists}]"))
	selected.wantAllPlaced(t)
	if got := selected.nodeOf(t, "default/selecting-0").Pool.Name; got != "banana" {
		t.Errorf("the pod that selects the label is in pool %s", got)
	}
}

// TestEveryPoolSaysWhyNot is S1-089 and S1-094: a pod without a place has the reason of each pool, in the reference's words:
// the taint as key=value:effect, requirements by key with both sides.
func TestEveryPoolSaysWhyNot(t *testing.T) {
	p := plan(t, defaultAndBanana()+inflate("workload", "1", oneCore, "      nodeSelector: {karpenter.sh/capacity-type: on-demand}")+
		inflate("controller", "1", oneCore, `      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: karpenter.sh/nodepool, operator: In, values: [theirs]}]}]}}}
      tolerations: [{operator: Exists}]`))
	want := []string{
		`incompatible with nodepool "banana", did not tolerate example.com/special-taint=:NoSchedule`,
		`incompatible with nodepool "default", incompatible requirements, key karpenter.sh/capacity-type`,
	}
	if diff := cmp.Diff(want, beforeColon(p.reasonsOf(t, "default/workload-0"))); diff != "" {
		t.Errorf("workload (-want +got):\n%s", diff)
	}
	want = []string{
		`incompatible with nodepool "banana", incompatible requirements, key karpenter.sh/nodepool`,
		`incompatible with nodepool "default", incompatible requirements, key karpenter.sh/nodepool`,
	}
	got := p.reasonsOf(t, "default/controller-0")
	if diff := cmp.Diff(want, beforeColon(got)); diff != "" {
		t.Errorf("controller (-want +got):\n%s", diff)
	}
	for _, sentence := range got {
		if !strings.Contains(sentence, "the pod wants In [theirs]") || !strings.Contains(sentence, "the pool allows In [") {
			t.Errorf("%q does not name both sides", sentence)
		}
	}
}

// beforeColon cuts each sentence before the operands that follow ": ", and sorts.
func beforeColon(sentences []string) []string {
	var short []string
	for _, s := range sentences {
		s, _, _ = strings.Cut(s, ": ")
		short = append(short, s)
	}
	slices.Sort(short)
	return short
}

// TestFifteenPods is S1-033 and S1-075: no node size is configured anywhere; fifteen pods of a core and a DaemonSet make
// one node of sixteen cores where only one may be launched.
func TestFifteenPods(t *testing.T) {
	daemon := `
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-system}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: agent, image: registry.example.com/agent:1, resources: {requests: {cpu: 125m}}}]
`
	p := plan(t, nodePool("default", `      requirements:
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`, "  limits: {nodes: 1}\n")+daemon+inflate("inflate", "15", oneCore, ""))
	p.wantAllPlaced(t)
	if len(p.NewNodes) != 1 {
		t.Fatalf("%d nodes", len(p.NewNodes))
	}
	node := p.NewNodes[0]
	if cpu := node.Requests[corev1.ResourceCPU]; cpu.String() != "15125m" {
		t.Errorf("requests are %s of CPU, want 15125m, the DaemonSet's among them", cpu.String())
	}
	if pods := node.Requests[corev1.ResourcePods]; pods.Value() != 16 {
		t.Errorf("requests are %s pods, want 16, the DaemonSet's among them", pods.String())
	}
	if facts, _ := p.facts.Lookup(node.InstanceTypes[0].Name); facts.VCPUs != 16 {
		t.Errorf("the node is %s with %d cores, want 16", facts.Name, facts.VCPUs)
	}
}

// TestCheapest is S2-004: over all zones and capacity types, the node taken is the cheapest that fits.
func TestCheapest(t *testing.T) {
	p := plan(t, nodePool("default", "      requirements: []\n", "")+inflate("inflate", "1", "{requests: {cpu: 3, memory: 10Gi}}", ""))
	p.wantAllPlaced(t)
	options := p.nodeOf(t, "default/inflate-0").InstanceTypes
	if !slices.IsSortedFunc(options, func(a, b scheduling.InstanceTypeOption) int {
		switch {
		case a.Price < b.Price:
			return -1
		case a.Price > b.Price:
			return 1
		}
		return 0
	}) {
		t.Error("the types are not listed cheapest first")
	}
	if p.HourlyCost != options[0].Price || options[0].CapacityType != "spot" {
		t.Errorf("the plan costs $%g/h for %+v", p.HourlyCost, options[0])
	}
	if p.LowerBound > p.HourlyCost || p.LowerBound < p.HourlyCost*0.999 {
		t.Errorf("one pod on its cheapest node costs $%g/h, but the bound is $%g/h", p.HourlyCost, p.LowerBound)
	}
}

// TestPodsWithoutRequests is S2-014: they have places, as many on a node as it has slots for pods.
func TestPodsWithoutRequests(t *testing.T) {
	p := plan(t, nodePool("default", "      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [t3a.medium]}]\n", "")+
		inflate("nginx", "40", "{}", ""))
	p.wantAllPlaced(t)
	// 3 network interfaces of 6 addresses hold 3*(6-1)+2 pods.
	const slots = 17
	if len(p.NewNodes) != 3 {
		t.Errorf("%d nodes for 40 pods, want 3 with %d slots each", len(p.NewNodes), slots)
	}
	for _, node := range p.NewNodes {
		if len(node.Pods) > slots {
			t.Errorf("%s holds %d pods", node.Name, len(node.Pods))
		}
	}
}

// TestForeignNodes is S2-039, the half that plans: a node that no pool made takes pods before nodes are launched.
func TestForeignNodes(t *testing.T) {
	p := plan(t, nodePool("default", "      requirements: []\n", "")+`
---
apiVersion: v1
kind: Node
metadata:
  name: foreign
  labels: {kubernetes.io/os: linux, kubernetes.io/arch: amd64, eks.amazonaws.com/nodegroup: workers}
spec: {}
status:
  capacity: {cpu: 4, memory: 16Gi, pods: 110}
  allocatable: {cpu: 4, memory: 15Gi, pods: 110}
`+inflate("inflate", "5", oneCore, ""))
	if len(p.Existing) != 1 || p.Existing[0].Name != "foreign" || len(p.Existing[0].Pods) != 4 {
		t.Errorf("on existing nodes: %+v, want 4 pods on node foreign", p.Existing)
	}
	p.wantAllPlaced(t)
	if len(p.NewNodes) != 1 || len(p.NewNodes[0].Pods) != 1 {
		t.Errorf("new nodes: %+v, want one for the fifth pod", p.NewNodes)
	}
}
