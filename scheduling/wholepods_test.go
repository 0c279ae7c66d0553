package scheduling_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

const gpu = "nvidia.com/gpu"

// gpuNodes are two types with GPUs and one without. Of the large one's memory two pods of the largest sizes leave much unused.
func gpuNodes() []*cloudprovider.InstanceType {
	var out []*cloudprovider.InstanceType
	for _, n := range []struct {
		name  string
		price float64
		room  []string
	}{
		{"gpu-1", 0.12, []string{"cpu=4", "memory=7Gi", gpu + "=1"}},
		{"gpu-2", 0.326, []string{"cpu=64", "memory=118Gi", gpu + "=2"}},
		{"plain", 0.40, []string{"cpu=64", "memory=500Gi"}},
	} {
		out = append(out, typeOf(n.name, n.price, n.room...))
	}
	return out
}

// gpuPods are pods of which few share a node: some with a GPU, some without.
func gpuPods(n int) []*corev1.Pod {
	var list []*corev1.Pod
	for i, p := range []struct {
		cpu, memory string
		gpus        int
	}{{"11", "52Gi", 1}, {"14", "41Gi", 1}, {"22", "71Gi", 1}, {"3", "5Gi", 1}, {"12", "60Gi", 0}, {"15", "49Gi", 0}, {"8", "35Gi", 0}} {
		ask := []string{"cpu=" + p.cpu, "memory=" + p.memory}
		if p.gpus > 0 {
			ask = append(ask, fmt.Sprintf("%s=%d", gpu, p.gpus))
		}
		list = append(list, pods(fmt.Sprintf("kind-%d", i), n+7*i, requests(ask...))...)
	}
	return list
}

// countsWhole reports whether the proof for some type counts whole pods.
func countsWhole(p *scheduling.Plan) bool {
	return p.Certificate != nil && slices.ContainsFunc(p.Certificate.Types, func(t planning.CertificateType) bool { return len(t.Whole) > 0 })
}

// Where few large pods share a node, the bound counts whole pods, and GPUs with them: in fractions of pods a node's memory is filled to
// the last byte.
func TestBoundCountsWholePods(t *testing.T) {
	s := cluster(gpuNodes(), gpuPods(60))
	p := solve(t, s)
	if faults := faultsOf(s, p); len(faults) > 0 {
		t.Errorf("faults %v", faults)
	}
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	fractions, err := m.Solve(t.Context(), scheduling.Query{Effort: scheduling.EffortFast})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("cost %v, bound %v; bound by fractions %v", p.HourlyCost, p.LowerBound, fractions.LowerBound)
	if !countsWhole(p) || countsWhole(fractions) {
		t.Fatalf("whole pods are counted by default: %v, and with the least effort: %v", countsWhole(p), countsWhole(fractions))
	}
	if p.LowerBound < 1.01*fractions.LowerBound || p.HourlyCost > 1.01*p.LowerBound {
		t.Errorf("costs %v with a bound of %v; fractions of pods prove %v", p.HourlyCost, p.LowerBound, fractions.LowerBound)
	}
}

// A proof by whole pods is repeated when it is checked: with higher values, larger units or fewer resources counted it is refused.
func TestCertificateInWholePodsCannotPromiseMore(t *testing.T) {
	s := cluster(gpuNodes(), gpuPods(60))
	promisesNoMore(t, s)
	p := solve(t, s)
	for name, change := range map[string]func(c *planning.CertificateType){
		"larger units":    func(c *planning.CertificateType) { c.Whole[0].Unit = resource.MustParse("60Gi") },
		"units of zero":   func(c *planning.CertificateType) { c.Whole[0].Unit = resource.MustParse("0") },
		"nothing counted": func(c *planning.CertificateType) { c.Whole = nil },
		"three counted": func(c *planning.CertificateType) {
			one := planning.CertificateCount{Resource: corev1.ResourceCPU, Unit: resource.MustParse("1")}
			c.Whole = append(c.Whole, one, one)
		},
	} {
		certificate, forged := *p.Certificate, *p
		certificate.Types = slices.Clone(p.Certificate.Types)
		for i := range certificate.Types {
			if c := &certificate.Types[i]; len(c.Whole) > 0 {
				c.Whole = slices.Clone(c.Whole)
				change(c)
			}
		}
		forged.Certificate = &certificate
		if faults := planvalidator.CheckBound(s, &forged); len(faults) == 0 {
			t.Errorf("%s: nobody noticed", name)
		}
	}
}

// Bounds that count whole pods hold, whatever types and pods there are.
//
//	go test ./scheduling -run TestBoundsByWholePodsHold -rapid.checks 2000
func TestBoundsByWholePodsHold(t *testing.T) {
	counted := 0
	seeded.Times(t, 100, func(t *rapid.T) {
		var types []*cloudprovider.InstanceType
		for i := range rapid.IntRange(1, 4).Draw(t, "types") {
			room := []string{fmt.Sprintf("cpu=%d", rapid.IntRange(8, 64).Draw(t, "cpu")), fmt.Sprintf("memory=%dMi", rapid.IntRange(30_000, 120_000).Draw(t, "memory"))}
			if gpus := rapid.IntRange(0, 4).Draw(t, "gpus"); gpus > 0 {
				room = append(room, fmt.Sprintf("%s=%d", gpu, gpus))
			}
			types = append(types, typeOf(fmt.Sprintf("type-%d", i), rapid.Float64Range(0.1, 1).Draw(t, "price"), room...))
		}
		var list []*corev1.Pod
		for i := range rapid.IntRange(1, 6).Draw(t, "kinds") {
			ask := []string{fmt.Sprintf("cpu=%d", rapid.IntRange(1, 20).Draw(t, "cpu")), fmt.Sprintf("memory=%dMi", rapid.IntRange(5_000, 70_000).Draw(t, "memory"))}
			if gpus := rapid.IntRange(0, 2).Draw(t, "gpus"); gpus > 0 {
				ask = append(ask, fmt.Sprintf("%s=%d", gpu, gpus))
			}
			options := []podOption{requests(ask...), labelled(fmt.Sprintf("kind-%d", i))}
			if rapid.IntRange(0, 3).Draw(t, "apart") == 0 {
				options = append(options, awayFrom(corev1.LabelHostname, fmt.Sprintf("kind-%d", i)))
			}
			list = append(list, pods(fmt.Sprintf("kind-%d", i), rapid.IntRange(20, 120).Draw(t, "pods"), options...)...)
		}
		s := cluster(types, list)
		p := solved(t, s)
		if countsWhole(p) {
			counted++
		}
		for i, fault := range planvalidator.CheckBound(s, p) {
			if i == 0 {
				show(t, s)
			}
			t.Errorf("%v", fault)
		}
	})
	if t.Logf("%d plans count whole pods", counted); counted == 0 {
		t.Error("no plan counts whole pods")
	}
}
