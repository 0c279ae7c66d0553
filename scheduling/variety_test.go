package scheduling_test

import (
	"slices"
	"strings"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// minValues asks that the pool's nodes have so many values of the label to choose from.
func minValues(key string, n int) poolOption {
	return func(np *scheduling.NodePool) {
		spec := &np.Object.Spec.Template.Spec
		spec.Requirements = append(spec.Requirements, v1.NodeSelectorRequirementWithMinValues{Key: key, Operator: opExists, MinValues: &n})
	}
}

// SCH-041, SCH-044: a strict minValues leaves a pod to other pools, or without a place; best effort gives up what the
// pod's own demands make impossible, in the pool it would be in anyway, and says so node by node.
func TestMinValuesPolicies(t *testing.T) {
	picky, plain := nodePool("picky", weight(9), minValues(typeKey, 2)), nodePool("plain")
	large := requests("cpu=6", "memory=6Gi") // fits on one type
	for _, c := range []struct {
		name    string
		parts   []any
		policy  scheduling.MinValuesPolicy
		pool    string
		relaxed bool
	}{
		{"strict, met", []any{picky, plain, pod("p", requests("cpu=3"))}, "", "picky", false},
		{"strict, not met: the next pool", []any{picky, plain, pod("p", large)}, "", "plain", false},
		{"strict, not met: nowhere", []any{picky, pod("p", large)}, scheduling.MinValuesStrict, "", false},
		{"best effort, met", []any{picky, plain, pod("p", requests("cpu=3"))}, scheduling.MinValuesBestEffort, "picky", false},
		{"best effort, not met", []any{picky, plain, pod("p", large)}, scheduling.MinValuesBestEffort, "picky", true},
		{"best effort, no node at all", []any{picky, plain, pod("p", requests("cpu=99"))}, scheduling.MinValuesBestEffort, "", false},
		{"best effort, a pool of equal weight that asks for nothing", []any{nodePool("a", minValues(typeKey, 2)), nodePool("b"), pod("p", large)}, scheduling.MinValuesBestEffort, "b", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solveQuery(t, cluster(c.parts...), scheduling.Query{MinValues: c.policy})
			if c.pool == "" {
				wantPlace(t, p, "p", "nowhere")
				return
			}
			if n := newNodeOf(t, p, "p"); n.Pool.Name != c.pool || n.MinValuesRelaxed != c.relaxed {
				t.Errorf("pool %s, relaxed %v; want %s, %v", n.Pool.Name, n.MinValuesRelaxed, c.pool, c.relaxed)
			}
		})
	}
	t.Run("SCH-044 node by node", func(t *testing.T) {
		p := solveQuery(t, cluster(picky, pod("large", large), pod("small", selector(zoneKey+"=b")), pod("away", large, selector(zoneKey+"=a"))), scheduling.Query{MinValues: scheduling.MinValuesBestEffort})
		for name, want := range map[string]bool{"large": true, "away": true, "small": false} {
			if n := newNodeOf(t, p, name); n.MinValuesRelaxed != want {
				t.Errorf("node of %s with %v: relaxed %v, want %v", name, n.InstanceTypes, n.MinValuesRelaxed, want)
			}
		}
	})
}

// SCH-041: with best effort no node does without variety that its pods by themselves could have: packing them
// together is no reason.
func TestBestEffortKeepsWhatCanBeKept(t *testing.T) {
	types := catalogue()
	types[2] = typeOf("large", 0.21, "cpu=8", "memory=32Gi") // by far the cheapest by the core
	s := cluster(types, nodePool("picky", minValues(typeKey, 2)), pods("p", 7, requests("cpu=2", "memory=2Gi")))
	p := solveQuery(t, s, scheduling.Query{MinValues: scheduling.MinValuesBestEffort})
	if len(p.Unschedulable) > 0 {
		t.Fatal(p.Unschedulable)
	}
	for i := range p.NewNodes {
		if n := &p.NewNodes[i]; n.MinValuesRelaxed || len(n.InstanceTypes) < 2 {
			t.Errorf("%s with %d pods may be of %v, relaxed %v", n.Name, len(n.Pods), n.InstanceTypes, n.MinValuesRelaxed)
		}
	}
}

// SCH-041: what counts is which types hold the node's pods, not which could stand in for one another when full.
func TestMinValuesOfTypesThatDiffer(t *testing.T) {
	cpu, memory := typeOf("cpu", 0.2, "cpu=8", "memory=8Gi"), typeOf("memory", 0.2, "cpu=4", "memory=16Gi")
	s := cluster(cpu, memory, nodePool("picky", minValues(typeKey, 2)), pods("p", 5, requests("cpu=2", "memory=4Gi")), pod("hog", requests("cpu=6", "memory=4Gi")))
	p := solveQuery(t, s, scheduling.Query{})
	wantReason(t, p, "hog", `incompatible with nodepool "picky", the instance types that would do are less varied than its minValues ask for: 2 values of node.kubernetes.io/instance-type, and there is 1`)
	if len(p.Unschedulable) > 1 || len(p.NewNodes) != 3 {
		t.Errorf("%d nodes, want 3 with two pods at most: %v", len(p.NewNodes), p.Unschedulable)
	}
	for i := range p.NewNodes {
		if got := len(p.NewNodes[i].InstanceTypes); got != 2 {
			t.Errorf("%s has %d types to choose from, want 2", p.NewNodes[i].Name, got)
		}
	}
}

// SCH-043: only values count that the claim still allows and an available offering backs.
func TestMinValuesCountWhatCanBeHad(t *testing.T) {
	zones := nodePool("zones", minValues(zoneKey, 2))
	onlyInA := sold(typeOf("a-only", 0.1, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.1), shut(offering("b", v1.CapacityTypeOnDemand, 0.1)))
	spread := []podOption{labelled("w"), spreadBy(zoneKey, 1, "w")}
	for _, c := range []struct {
		name  string
		parts []any
		want  string
	}{
		{"both zones", []any{zones, pod("p")}, ""},
		{"pinned to one", []any{zones, pod("p", selector(zoneKey+"=a"))}, "2 values of " + zoneKey},
		{"one sold out", []any{zones, onlyInA, pod("p")}, "2 values of " + zoneKey},
		{"a type that is sold out in the zone", []any{nodePool("types", minValues(typeKey, 2)), onlyInA, soldIn("a", "b"), pod("p", selector(zoneKey+"=b"))}, "2 values of " + typeKey},
		{"a spread needs the zone decided", []any{zones, pod("p", spread...), node("n", bound(pod("w", labelled("w"), requests("cpu=4")))), node("m", inZone("b"), allocatable("cpu=0", "memory=0"))}, "2 values of " + zoneKey},
		{"a spread over other labels does not", []any{nodePool("types", minValues(typeKey, 2)), pod("p", spread...)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solveQuery(t, cluster(c.parts...), scheduling.Query{})
			if c.want == "" {
				if place(p, "p") == "nowhere" {
					t.Error(p.Unschedulable)
				}
				return
			}
			if r := reasonsOf(t, p, "p")[0]; r.Code != scheduling.ReasonMinValues || !strings.HasSuffix(r.String(), c.want+", and there is 1") {
				t.Errorf("%s: %s, want %s", r.Code, r, c.want)
			}
		})
	}
}

// SCH-040: values are counted type by type, whatever label they are of.
func TestMinValuesOfAnyLabel(t *testing.T) {
	p := solveQuery(t, cluster(nodePool("p", minValues(archKey, 2)), pod("p", requests("cpu=3")), pod("q", selector(archKey+"=amd64"))), scheduling.Query{})
	if got := names(newNodeOf(t, p, "p").InstanceTypes); !slices.Contains(got, "arm") || len(got) < 2 {
		t.Errorf("types %v, want arm and one of amd64", got)
	}
	if r := reasonsOf(t, p, "q")[0]; r.Code != scheduling.ReasonMinValues {
		t.Errorf("a pod of one architecture: %s", r)
	}
}
