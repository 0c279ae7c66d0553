package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Pod is a pending or bound pod. App is the name of its deployment.
type Pod struct {
	Name, App    string
	CPUm, MemMi  int64
	NodeSelector map[string]string
	ZoneSpread   bool // a topology spread constraint over zones, maxSkew 1, DoNotSchedule, that selects pods of the same App
	HostAnti     bool // a required anti-affinity by hostname that selects pods of the same App
	// The following fields are set only for running pods.
	Node string
}

// Labels that pods of the scenarios select.
const (
	// LabelZone is the label of the zone.
	LabelZone = "topology.kubernetes.io/zone"
	// LabelArch is the label of the architecture.
	LabelArch = "kubernetes.io/arch"
	// LabelCapacityType is the label of the capacity type, "spot" or "on-demand".
	LabelCapacityType = "karpenter.sh/capacity-type"
)

func rng(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Homogeneous returns n identical pods that request 1 CPU and 2Gi.
func Homogeneous(n int) []Pod {
	out := make([]Pod, n)
	for i := range out {
		out[i] = Pod{Name: fmt.Sprintf("homo-%05d", i), App: "homo", CPUm: 1000, MemMi: 2048}
	}
	return out
}

var depCPU = []int64{100, 250, 500, 750, 1000, 1500, 2000, 3000, 4000}
var depRatio = []float64{0.5, 1, 2, 4, 8} // GiB per core

// shapes draws the CPU and memory requests of the pods of each of 50 deployments.
func shapes(r *rand.Rand) [][2]int64 {
	out := make([][2]int64, 50)
	for d := range out {
		c := depCPU[r.IntN(len(depCPU))]
		m := int64(float64(c) * depRatio[r.IntN(len(depRatio))] * 1024 / 1000)
		out[d] = [2]int64{c, max(m, 64)}
	}
	return out
}

// Deployments returns n pods. They are assigned round-robin to 50 deployments. Each deployment has its own requests and its own label.
func Deployments(n int) []Pod { return deployments(n, Seed) }

func deployments(n int, seed uint64) []Pod {
	sh := shapes(rng(seed, 1))
	out := make([]Pod, n)
	for i := range out {
		d := i % 50
		out[i] = Pod{Name: fmt.Sprintf("dep%02d-%05d", d, i/50), App: fmt.Sprintf("dep%02d", d), CPUm: sh[d][0], MemMi: sh[d][1]}
	}
	return out
}

// Constrained returns the pods of Deployments with a constraint that depends on the number d of the deployment. If d%3 is 0, the constraint
// is a spread over zones. If d%3 is 1, it is anti-affinity by hostname to pods of the same deployment. If d%3 is 2, it is a node selector
// that requires one zone, one architecture or one capacity type, depending on d/3%3.
func Constrained(n int) []Pod { return constrained(n, Seed) }

func constrained(n int, seed uint64) []Pod {
	out := deployments(n, seed)
	for i := range out {
		d := i % 50
		switch d % 3 {
		case 0:
			out[i].ZoneSpread = true
		case 1:
			out[i].HostAnti = true
		case 2:
			k := d / 9
			switch (d / 3) % 3 {
			case 0:
				out[i].NodeSelector = map[string]string{LabelZone: Zones()[k%3]}
			case 1:
				out[i].NodeSelector = map[string]string{LabelArch: []string{"amd64", "arm64"}[k%2]}
			case 2:
				out[i].NodeSelector = map[string]string{LabelCapacityType: []string{"on-demand", "spot"}[k%2]}
			}
		}
	}
	return out
}

// Diverse returns n pods without constraints. CPU is log-uniform in [50m,4000m], and memory is log-uniform in [64Mi,16384Mi].
func Diverse(n int) []Pod { return diverse(n, Seed) }

func diverse(n int, seed uint64) []Pod {
	r := rng(seed, 2)
	lu := func(lo, hi float64) int64 {
		return int64(math.Exp(math.Log(lo) + r.Float64()*(math.Log(hi)-math.Log(lo))))
	}
	out := make([]Pod, n)
	for i := range out {
		c := lu(50, 4000)
		m := lu(64, 16384)
		out[i] = Pod{Name: fmt.Sprintf("div-%05d", i), App: fmt.Sprintf("div-%05d", i), CPUm: c, MemMi: m}
	}
	return out
}

// Node is an existing node.
type Node struct {
	Name string
	Type *Type
	Zone string
	Spot bool
	Pods []Pod
}

// Existing returns n nodes. It fills each node with pods of the sizes that Deployments uses, until the given share of the node's CPU or
// memory is used. The types are cheap amd64 and arm64 types of the families c, m and r with 8 or 16 vCPUs. The nodes are assigned to the
// zones in turn, and every second node is a spot node.
func Existing(cat []*Type, n int, fill float64) []Node { return existing(cat, n, fill, Seed) }

func existing(cat []*Type, n int, fill float64, seed uint64) []Node {
	r := rng(seed, 3)
	sh := shapes(rng(seed, 1))
	var pick []*Type
	for _, t := range cat {
		if (t.VCPU == 8 || t.VCPU == 16) && len(t.Family) == 3 && (t.Category == "c" || t.Category == "m" || t.Category == "r") {
			pick = append(pick, t)
		}
	}
	out := make([]Node, n)
	seq := 0
	for i := range out {
		t := pick[r.IntN(len(pick))]
		nd := Node{Name: fmt.Sprintf("node-%05d", i), Type: t, Zone: Zones()[i%3], Spot: i%2 == 1}
		var c, m int64
		for tries := 0; tries < 200; tries++ {
			d := r.IntN(50)
			c2, m2 := c+sh[d][0], m+sh[d][1]
			if float64(c2) > fill*float64(t.AllocCPUm()) || float64(m2) > fill*float64(t.AllocMemMi()) || len(nd.Pods) >= t.MaxPods-5 {
				if len(nd.Pods) > 0 && tries > 12 {
					break
				}
				continue
			}
			c, m = c2, m2
			nd.Pods = append(nd.Pods, Pod{Name: fmt.Sprintf("run%02d-%06d", d, seq), App: fmt.Sprintf("run%02d", d), CPUm: sh[d][0], MemMi: sh[d][1], Node: nd.Name})
			seq++
		}
		out[i] = nd
	}
	return out
}
