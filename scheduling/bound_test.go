package scheduling_test

import (
	"fmt"
	"math"
	"math/bits"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// tinyPod is a pod as the exhaustive search sees it.
type tinyPod struct {
	cpu, memory, gpus int // cores, GiB, units
	want              map[string]string
}

// tinyNode is one way to buy a node.
type tinyNode struct {
	cpu, memory, gpus, pods int
	labels                  map[string]string
	price                   float64
}

func (m *tinyNode) holds(pods []tinyPod, set uint) bool {
	cpu, memory, gpus := 0, 0, 0
	for i := range pods {
		if set&(1<<i) == 0 {
			continue
		}
		cpu, memory, gpus = cpu+pods[i].cpu, memory+pods[i].memory, gpus+pods[i].gpus
		for k, v := range pods[i].want {
			if m.labels[k] != v {
				return false
			}
		}
	}
	return cpu <= m.cpu && memory <= m.memory && gpus <= m.gpus && bits.OnesCount(set) <= m.pods
}

// cheapestPlan looks at every way to split the pods into nodes.
func cheapestPlan(pods []tinyPod, nodes []tinyNode) float64 {
	all := uint(1)<<len(pods) - 1
	single := make([]float64, all+1)
	for set := uint(1); set <= all; set++ {
		single[set] = math.Inf(1)
		for i := range nodes {
			if nodes[i].price < single[set] && nodes[i].holds(pods, set) {
				single[set] = nodes[i].price
			}
		}
	}
	best := make([]float64, all+1)
	for set := uint(1); set <= all; set++ {
		best[set] = single[set]
		for part := (set - 1) & set; part > 0; part = (part - 1) & set {
			best[set] = min(best[set], best[part]+best[set&^part])
		}
	}
	return best[all]
}

// The bound never exceeds what the cheapest of all plans costs, nor does that exceed the plan; and where so few pods are
// planned, the plan is not far from it.
func TestBoundAgainstExhaustiveSearch(t *testing.T) { boundAgainstExhaustiveSearch(t, 0) }

// The same holds where nodes have few whole GPUs.
func TestBoundOfGPUsAgainstExhaustiveSearch(t *testing.T) { boundAgainstExhaustiveSearch(t, 8) }

func boundAgainstExhaustiveSearch(t *testing.T, gpus int) {
	worst := 1.0
	seeded.Check(t, func(t *rapid.T) {
		var nodes []tinyNode
		var types []*cloudprovider.InstanceType
		for i := range number(t, 1, 4) {
			m := tinyNode{cpu: oneOf(t, 1, 2, 4, 8), memory: oneOf(t, 2, 4, 8, 16), pods: oneOf(t, 2, 4, 110)}
			if gpus > 0 {
				m.gpus = oneOf(t, 0, 1, gpus/2, gpus)
			}
			name := fmt.Sprintf("t%d", i)
			it := typeOf(name, 0, fmt.Sprintf("cpu=%d", m.cpu), fmt.Sprintf("memory=%dGi", m.memory), fmt.Sprintf("%s=%d", gpuName, m.gpus))
			it.Capacity[corev1.ResourcePods] = amounts(fmt.Sprintf("pods=%d", m.pods))["pods"]
			it.Offerings = nil
			for _, zone := range []string{"a", "b"} {
				m.price = float64(number(t, 5, 60)*m.cpu) / 100
				m.labels = map[string]string{zoneKey: zone, typeKey: name}
				it.Offerings = append(it.Offerings, offering(zone, "on-demand", m.price))
				nodes = append(nodes, m)
			}
			types = append(types, it)
		}
		kinds := make([]tinyPod, number(t, 1, 4))
		for i := range kinds {
			kinds[i] = tinyPod{cpu: number(t, 0, 4), memory: number(t, 0, 6)}
			if gpus > 0 && chance(t, 2) {
				kinds[i].gpus = oneOf(t, 1, 2, gpus/2, gpus)
			}
			if chance(t, 2) {
				kinds[i].want = map[string]string{zoneKey: oneOf(t, "a", "b")}
			}
		}
		var small []tinyPod
		var list []*corev1.Pod
		for i := range number(t, 1, 8) {
			p := oneOf(t, kinds...)
			var options []podOption
			for k, v := range p.want {
				options = append(options, selector(k+"="+v))
			}
			small = append(small, p)
			list = append(list, pod(fmt.Sprintf("p%d", i), append(options, requests(fmt.Sprintf("cpu=%d", p.cpu), fmt.Sprintf("memory=%dGi", p.memory), fmt.Sprintf("%s=%d", gpuName, p.gpus)))...))
		}
		want := cheapestPlan(small, nodes)
		s := cluster(types, list)
		p := solved(t, s)
		if math.IsInf(want, 1) {
			if len(p.Unschedulable) == 0 {
				t.Errorf("some pod fits no node, but all are placed")
			}
			return
		}
		if len(p.Unschedulable) != 0 {
			t.Fatalf("%d pods have no place, but all fit", len(p.Unschedulable))
		}
		if p.LowerBound > want+1e-6 || p.HourlyCost < want-1e-6 {
			show(t, s)
			t.Errorf("bound %v, cheapest plan %v, plan %v: want them in that order", p.LowerBound, want, p.HourlyCost)
		}
		worst = max(worst, p.HourlyCost/want)
		if p.HourlyCost > want*1.6+1e-9 {
			show(t, s)
			t.Errorf("the plan costs %v, the cheapest %v", p.HourlyCost, want)
		}
	})
	t.Logf("at worst %.3f of the cheapest plan", worst)
}

// The certificate of a plan for pods without constraints is checked by the validator with arithmetic alone; a
// certificate that promises more must not pass.
func TestCertificateCannotPromiseMore(t *testing.T) {
	promisesNoMore(t, cluster(pods("a", 30, requests("cpu=300m", "memory=2Gi")), pods("b", 20, requests("cpu=900m", "memory=1Gi"))))
}

// Nor must one that promises more for pods with whole GPUs.
func TestCertificateOfGPUsCannotPromiseMore(t *testing.T) {
	types := []*cloudprovider.InstanceType{
		typeOf("plain", 0.4, "cpu=8", "memory=32Gi"), typeOf("one", 1, "cpu=8", "memory=32Gi", "example.com/gpu=1"),
		typeOf("eight", 7, "cpu=64", "memory=256Gi", "example.com/gpu=8"),
	}
	promisesNoMore(t, cluster(types, pods("a", 200, requests("cpu=2", "memory=6Gi")),
		pods("b", 24, requests("cpu=4", "memory=8Gi", "example.com/gpu=1")), pods("c", 5, requests("cpu=16", "memory=64Gi", "example.com/gpu=4"))))
}

// Pods of two Deployments with equal requests, one of which keeps away from the other, are counted together in a proof: the node has
// room for so many of them in all.
func TestCertificateOfPodsAlikeUnderRules(t *testing.T) {
	types := []*cloudprovider.InstanceType{
		typeOf("two", 0.09, "cpu=2", "memory=8Gi"), typeOf("four", 0.18, "cpu=4", "memory=16Gi"), typeOf("eight", 0.36, "cpu=8", "memory=32Gi"),
	}
	size := requests("cpu=1500m", "memory=128Mi")
	s := cluster(types, pods("a", 2, size, labelled("a")), pods("b", 8, size, labelled("b"), awayFrom(corev1.LabelHostname, "a")),
		pods("c", 3, size, labelled("c"), awayFrom(corev1.LabelHostname, "a")))
	promisesNoMore(t, s)
	classes := solve(t, s).Certificate.Classes
	if len(classes) != 1 || classes[0].Count != 13 {
		t.Errorf("classes %+v, want the 13 pods together", classes)
	}
}

func promisesNoMore(t *testing.T, s *scheduling.Snapshot) {
	t.Helper()
	p := solve(t, s)
	if p.LowerBound < 0.8*p.HourlyCost {
		t.Errorf("lower bound %v of %v", p.LowerBound, p.HourlyCost)
	}
	for i := range p.Certificate.Classes {
		if p.Certificate.Classes[i].Value == 0 {
			continue // a twentieth more is nothing
		}
		forged := *p
		certificate := *p.Certificate
		certificate.Classes = append([]planning.CertificateClass(nil), p.Certificate.Classes...)
		certificate.Classes[i].Value *= 1.05
		forged.Certificate = &certificate
		forged.LowerBound += 0.05 * p.Certificate.Classes[i].Value * float64(p.Certificate.Classes[i].Count)
		forged.HourlyCost = p.HourlyCost
		if faults := faultsOf(s, &forged); len(faults) == 0 {
			t.Errorf("class %d was raised by a twentieth, and nobody noticed", i)
		}
	}
}

// The bound stays near the cost where node selectors make several hundred kinds of pods of a hundred sizes, and where few of them fit on
// a node.
func TestBoundOfManyKinds(t *testing.T) {
	var types []*cloudprovider.InstanceType
	for m, model := range []string{"x", "y", "z"} {
		for _, size := range []int{4, 8, 16, 32, 64} {
			for gpus := range 4 {
				price := float64(size)*0.05 + 0.35*float64(gpus*(3+m))
				it := typeOf(fmt.Sprintf("%s%d-%d", model, size, gpus), price, fmt.Sprintf("cpu=%d", size), fmt.Sprintf("memory=%dGi", size*(2+2*m)), fmt.Sprintf("%s=%d", gpuName, 2*gpus))
				types = append(types, with(it, requirements.In("model", model)))
			}
		}
	}
	var list []*corev1.Pod
	for i := range 300 {
		size := i % 75
		ask := requests(fmt.Sprintf("cpu=%dm", 500+size*37%61*100), fmt.Sprintf("memory=%dMi", 512+size*53%97*256), fmt.Sprintf("%s=%d", gpuName, size%3))
		var of []podOption
		if i >= 75 {
			of = append(of, selector("model="+[]string{"x", "y", "z"}[i/75-1]))
		}
		list = append(list, pods(fmt.Sprintf("k%d", i), 4+i%5, append(of, ask)...)...)
	}
	p := solve(t, cluster(types, list))
	if len(p.Unschedulable) > 0 || p.HourlyCost > 1.03*p.LowerBound {
		t.Errorf("cost %v, bound %v, %d unschedulable", p.HourlyCost, p.LowerBound, len(p.Unschedulable))
	}
	t.Logf("%.4f of the bound", p.HourlyCost/p.LowerBound)
}

// Pods that keep each other out of their zone need a node each, as those that keep each other off their node do, and the bound knows.
func TestBoundKnowsPodsApartByZone(t *testing.T) {
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
		s := cluster([]*cloudprovider.InstanceType{typeOf("one", 1, "cpu=16", "memory=64Gi")}, pods("apart", 2, requests("cpu=1", "memory=1Gi"), labelled("apart"), awayFrom(key, "apart")))
		p := solve(t, s)
		if faults := faultsOf(s, p); len(faults) > 0 {
			t.Errorf("%s: faults %v", key, faults)
		}
		if cost := 2 * 0.4; p.HourlyCost != cost || p.LowerBound < 0.999*cost {
			t.Errorf("%s: costs %v with a bound of %v, want %v for both", key, p.HourlyCost, p.LowerBound, cost)
		}
	}
}
