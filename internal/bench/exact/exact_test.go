package exact_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/bench/exact"
	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/scheduling"
)

func snapshot(t testing.TB, text string) *scheduling.Snapshot {
	t.Helper()
	s, err := scenario.FromText("test", text)
	if err != nil {
		t.Fatalf("%s\n%s", err, text)
	}
	return s.Snapshot
}

// Cases whose answers are seen by hand.
func TestCost(t *testing.T) {
	const types = `
instanceTypes:
- name: small
  capacity: {cpu: "4", memory: 8Gi, pods: "10"}
  offerings: [{zone: a, capacityType: spot, price: 1}, {zone: b, capacityType: on-demand, price: 3}]
- name: large
  capacity: {cpu: "8", memory: 32Gi, pods: "10"}
  offerings: [{zone: a, capacityType: spot, price: 2.5}]
deployments:
`
	for _, c := range []struct {
		name, pods string
		want       float64
	}{
		{"one node", "- {name: p, count: 4, requests: {cpu: 1, memory: 1Gi}}", 1},
		{"two small ones are cheaper than a large one", "- {name: p, count: 8, requests: {cpu: 1, memory: 1Gi}}", 2},
		{"memory makes the large one cheaper", "- {name: p, count: 3, requests: {cpu: 1, memory: 8Gi}}", 2.5},
		{"a selector", "- {name: p, count: 1, requests: {cpu: 1}, nodeSelector: {topology.kubernetes.io/zone: b}}", 3},
		{"apart", "- {name: p, count: 3, requests: {cpu: 1}, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}}", 3},
		{"too large", "- {name: p, count: 1, requests: {cpu: 9}}", math.Inf(1)},
		{"no pods", "- {name: p, count: 0}", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := exact.Cost(snapshot(t, types+c.pods))
			if err != nil || got != c.want {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
	for name, text := range map[string]string{
		"too many pods": types + "- {name: p, count: 13}",
		"a spread":      types + "- {name: p, count: 1, topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1}]}",
		"affinity":      types + "- {name: p, count: 1, affinity: {podAffinity: {}}}",
		"existing node": types + "- {name: p, count: 1}\nnodes: [{instanceType: small, zone: a, capacityType: spot, count: 1}]",
	} {
		if _, err := exact.Cost(snapshot(t, text)); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}

// instance is a random workload of at most 8 pods and 4 types.
func instance(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("instanceTypes:\n")
	for i := range 1 + r.IntN(4) {
		cpu, memory := 1+r.IntN(16), 1+r.IntN(64)
		fmt.Fprintf(&b, "- name: t%d\n  capacity: {cpu: \"%d\", memory: %dGi, pods: \"%d\"}\n  labels: {kubernetes.io/arch: %s}\n  offerings:\n",
			i, cpu, memory, 2+r.IntN(8), []string{"amd64", "arm64"}[r.IntN(2)])
		price := (0.04*float64(cpu) + 0.004*float64(memory)) * (0.7 + 0.6*r.Float64())
		for _, zone := range []string{"a", "b"} {
			fmt.Fprintf(&b, "  - {zone: %s, capacityType: on-demand, price: %.4f}\n", zone, price)
			fmt.Fprintf(&b, "  - {zone: %s, capacityType: spot, price: %.4f, available: %v}\n", zone, price*(0.3+0.2*r.Float64()), r.IntN(4) > 0)
		}
	}
	b.WriteString("deployments:\n")
	left := 1 + r.IntN(8)
	for i := 0; left > 0; i++ {
		count := 1 + r.IntN(left)
		left -= count
		fmt.Fprintf(&b, "- name: d%d\n  count: %d\n  requests: {cpu: %dm, memory: %dMi}\n", i, count, 100+r.IntN(4000), 100+r.IntN(16000))
		switch r.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "  nodeSelector: {topology.kubernetes.io/zone: %s}\n", []string{"a", "b"}[r.IntN(2)])
		case 1:
			b.WriteString("  nodeSelector: {karpenter.sh/capacity-type: on-demand}\n")
		case 2:
			b.WriteString("  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}\n")
		}
	}
	return b.String()
}

// Plans of small instances against the cheapest there are: never cheaper, which would be wrong, never refused, and mostly
// as cheap. The bounds, the plan's own and the judge's, are never above.
func TestPlansOfSmallInstances(t *testing.T) {
	instances := 400
	if testing.Short() {
		instances = 100
	}
	compared, optimal, worst, sum := 0, 0, 1.0, 0.0
	for seed := range instances {
		text := instance(rand.New(rand.NewPCG(uint64(seed), 1)))
		s := snapshot(t, text)
		model, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := model.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Unschedulable) > 0 {
			left := map[string]bool{}
			for _, u := range plan.Unschedulable {
				left[u.Pod.Name] = true
			}
			kept := s.Pods[:0:0]
			for _, pod := range s.Pods {
				if !left[pod.Name] {
					kept = append(kept, pod)
				} else if alone, err := only(s, pod.Name); err != nil || !math.IsInf(alone, 1) {
					t.Errorf("seed %d: pod %s has no place, but a node for $%v takes it (%v)\n%s", seed, pod.Name, alone, err, text)
				}
			}
			s.Pods = kept
		}
		best, err := exact.Cost(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Pods) == 0 {
			continue
		}
		var pods []string
		for _, pod := range s.Pods {
			pods = append(pods, pod.Namespace+"/"+pod.Name)
		}
		j := judge.New(s)
		bound := j.Bound(plan.Certificate, pods)
		for i := range plan.Certificate.Classes {
			plan.Certificate.Classes[i].Value *= 1 + float64(seed%3) // a certificate that lies
		}
		bound = max(bound, j.Bound(plan.Certificate, pods))
		if plan.LowerBound > best*(1+1e-9) || bound > best*(1+1e-9) || plan.HourlyCost < best*(1-1e-9) {
			t.Errorf("seed %d: bounds %v and %v, cheapest %v, plan %v: want them in that order\n%s", seed, plan.LowerBound, bound, best, plan.HourlyCost, text)
		}
		compared++
		ratio := plan.HourlyCost / best
		sum += ratio
		if ratio < 1+1e-9 {
			optimal++
		} else {
			t.Logf("seed %d: %d pods, ratio %.4f", seed, len(s.Pods), ratio)
		}
		worst = max(worst, ratio)
	}
	if optimal < compared*94/100 || sum > 1.01*float64(compared) {
		t.Errorf("of %d plans only %d are the cheapest there are, on average %.4f as dear: want 94 %% and 1.01", compared, optimal, sum/float64(compared))
	}
	t.Logf("%d instances: %d plans are the cheapest there are, mean %.5f, worst %.4f", compared, optimal, sum/float64(compared), worst)
}

func only(s *scheduling.Snapshot, name string) (float64, error) {
	one := *s
	one.Pods = nil
	for _, pod := range s.Pods {
		if pod.Name == name {
			one.Pods = append(one.Pods, pod)
		}
	}
	return exact.Cost(&one)
}
