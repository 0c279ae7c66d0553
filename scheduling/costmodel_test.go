package scheduling_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// decoded reads a cost model.
func decoded(t *testing.T, text string) *scheduling.CostModel {
	t.Helper()
	c, err := scheduling.DecodeCostModel(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// priced is a cluster that needs one node, of the only type there is: 4 cores and 16 GiB for $1 on demand, $0.40 spot.
func priced(parts ...any) *scheduling.Snapshot {
	it := sold(typeOf("m", 0, "cpu=4", "memory=16Gi", "example.com/gpu=2"), offering("a", v1.CapacityTypeOnDemand, 1), offering("a", v1.CapacityTypeSpot, 0.4))
	return cluster(append(parts, it, pod("p", selector(capacityKey+"=on-demand")))...)
}

// Terms apply in the order they are written, to what their selectors pick, and each line says what it really added.
func TestTermsMakeThePrice(t *testing.T) {
	line := func(name string, amount float64) scheduling.PriceTerm {
		return scheduling.PriceTerm{Name: name, Source: "s", Amount: amount}
	}
	for _, c := range []struct {
		name, terms string
		want        []scheduling.PriceTerm
		price       float64
	}{
		{"none", `[]`, nil, 1},
		{"a discount", `[{name: t, source: s, percent: -9}]`, []scheduling.PriceTerm{line("t", -0.09)}, 0.91},
		{"a fee per node", `[{name: t, source: s, perNode: 0.25}]`, []scheduling.PriceTerm{line("t", 0.25)}, 1.25},
		{"per resource", `[{name: t, source: s, perResource: {cpu: 0.01, memory: 0.001, example.com/gpu: 0.1, other: 9}}]`, []scheduling.PriceTerm{line("t", 0.04+0.016+0.2)}, 1.256},
		{"a price of its own", `[{name: t, source: s, price: 0.7}]`, []scheduling.PriceTerm{line("t", -0.3)}, 0.7},
		{"discount, then fee", `[{name: t, source: s, percent: -50}, {name: u, source: s, perNode: 0.1}]`, []scheduling.PriceTerm{line("t", -0.5), line("u", 0.1)}, 0.6},
		{"fee, then discount", `[{name: u, source: s, perNode: 0.1}, {name: t, source: s, percent: -50}]`, []scheduling.PriceTerm{line("u", 0.1), line("t", -0.55)}, 0.55},
		{"never below nothing", `[{name: t, source: s, perNode: -3}, {name: u, source: s, perNode: 0.1}]`, []scheduling.PriceTerm{line("t", -1), line("u", 0.1)}, 0.1},
		{"another type", `[{name: t, source: s, percent: -9, where: {requirements: [{key: node.kubernetes.io/instance-type, operator: NotIn, values: [m]}]}}]`, []scheduling.PriceTerm{}, 1},
		{"another capacity type", `[{name: t, source: s, percent: -9, where: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}]`, []scheduling.PriceTerm{}, 1},
		{"an alias of a label", `[{name: t, source: s, percent: -10, where: {requirements: [{key: beta.kubernetes.io/instance-type, operator: In, values: [m]}]}}]`, []scheduling.PriceTerm{line("t", -0.1)}, 0.9},
		{"this pool", `[{name: t, source: s, percent: -10, where: {nodePools: [default]}}]`, []scheduling.PriceTerm{line("t", -0.1)}, 0.9},
		{"another pool", `[{name: t, source: s, percent: -10, where: {nodePools: [other]}}]`, []scheduling.PriceTerm{}, 1},
		{"an offering", `[{name: t, source: s, offerings: [{offering: {instanceType: m, zone: a, capacityType: on-demand}, amount: 0.5}, {offering: {instanceType: m, zone: a, capacityType: spot}, amount: 9}]}]`, []scheduling.PriceTerm{line("t", 0.5)}, 1.5},
		{"a commitment", `[{name: t, source: s, commitment: {amount: 5}}]`, []scheduling.PriceTerm{{Name: "t", Source: "s", Amount: -1, Covered: 1}}, 0},
		{"half a commitment", `[{name: t, source: s, commitment: {amount: 0.5}}]`, []scheduling.PriceTerm{{Name: "t", Source: "s", Amount: -0.5, Covered: 0.5}}, 0.5},
		{"a commitment between discount and fee", `[{name: d, source: s, percent: -20}, {name: t, source: s, commitment: {amount: 1, percentOfPrice: 50}}, {name: u, source: s, perNode: 0.1}]`,
			[]scheduling.PriceTerm{line("d", -0.2), {Name: "t", Source: "s", Amount: -0.8, Covered: 1}, line("u", 0.1)}, 0.1},
		{"a discount after a commitment of half", `[{name: t, source: s, commitment: {amount: 0.5}}, {name: d, source: s, percent: -20}]`,
			[]scheduling.PriceTerm{{Name: "t", Source: "s", Amount: -0.5, Covered: 0.5}, line("d", -0.1)}, 0.4},
		{"what is still to be paid", `[{name: t, source: s, commitment: {amount: 1, remainingPercent: 30}}]`, []scheduling.PriceTerm{{Name: "t", Source: "s", Amount: -0.7, Covered: 1}}, 0.3},
		{"two commitments", `[{name: t, source: s, commitment: {amount: 8, unit: normalized units, byType: {m: 32}}}, {name: u, source: s, commitment: {amount: 0.35, percentOfPrice: 70}}]`,
			[]scheduling.PriceTerm{{Name: "t", Source: "s", Amount: -0.25, Covered: 0.25}, {Name: "u", Source: "s", Amount: -0.5, Covered: 0.5}}, 0.25},
		{"a commitment to other types", `[{name: t, source: s, commitment: {amount: 8, byType: {x: 1}}}]`, []scheduling.PriceTerm{}, 1},
		{"a commitment to spot", `[{name: t, source: s, commitment: {amount: 1}, where: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}]`, []scheduling.PriceTerm{}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := priced()
			s.CostModel = decoded(t, "terms: "+c.terms)
			p := solve(t, s)
			got := p.NewNodes[0].InstanceTypes[0]
			if math.Abs(got.Price-c.price) > 1e-9 || math.Abs(p.HourlyCost-c.price) > 1e-9 {
				t.Errorf("price %v, cost %v, want %v", got.Price, p.HourlyCost, c.price)
			}
			if math.Abs(p.LowerBound-c.price) > 1e-7 {
				t.Errorf("lower bound %v, want %v", p.LowerBound, c.price)
			}
			want := c.want
			if want != nil {
				want = append([]scheduling.PriceTerm{{Name: scheduling.ListPriceTerm, Source: `catalog "types"`, Amount: 1}}, want...)
			}
			if diff := cmp.Diff(want, got.Terms, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("terms (-want +got):\n%s", diff)
			}
			if m, err := scheduling.Compile(s); err != nil || m == nil {
				t.Fatal(err)
			}
		})
	}
}

// Nodes of the snapshot use a commitment first; one that leaves, or is hidden, leaves it to others. What a plan says of the
// commitment and of the nodes' prices is the same.
func TestNodesUseCommitmentsFirst(t *testing.T) {
	standing := func(name string, more ...nodeOption) scheduling.Node {
		return node(name, append([]nodeOption{allocatable("cpu=1", "memory=1Gi"), nodeLabel(typeKey, "m"), nodeLabel(zoneKey, "a"), nodeLabel(capacityKey, "on-demand")}, more...)...)
	}
	model := `terms: [{name: t, source: s, commitment: {amount: 1.5, unit: instances}}]`
	for _, c := range []struct {
		name            string
		nodes           []any
		price, existing float64
	}{
		{"no node", nil, 0, 0},
		{"one", []any{standing("n1")}, 0.5, 1},
		{"two", []any{standing("n1"), standing("n2")}, 1, 1.5},
		{"one leaves", []any{standing("n1"), standing("n2", leaving)}, 0.5, 1},
		{"spot", []any{standing("n1", nodeLabel(capacityKey, "spot"))}, 0, 0},
		{"of another type", []any{standing("n1", nodeLabel(typeKey, "x"))}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := priced(append(c.nodes, requestsPod())...)
			s.Pods = s.Pods[:1]
			s.CostModel = decoded(t, model)
			p := solve(t, s)
			if math.Abs(p.HourlyCost-c.price) > 1e-9 || math.Abs(p.LowerBound-c.price) > 1e-7 {
				t.Errorf("cost %v, bound %v, want %v", p.HourlyCost, p.LowerBound, c.price)
			}
			planned := min(1.5-c.existing, 1)
			want := []scheduling.CommitmentUse{{Name: "t", Source: "s", Unit: "instances", Amount: 1.5, Existing: c.existing, Planned: planned, Saved: planned}}
			if diff := cmp.Diff(want, p.Commitments, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// requestsPod is a pod that needs a node of its own.
func requestsPod() *corev1.Pod {
	return pod("a-big", requests("cpu=3"), selector(capacityKey+"=on-demand"))
}

// A node of the snapshot costs what its offering does, by the terms of its pool, less what commitments cover.
func TestNodePrice(t *testing.T) {
	s := priced(
		node("a", nodeLabel(typeKey, "m"), nodeLabel(zoneKey, "a"), nodeLabel(capacityKey, "on-demand")),
		node("b", nodeLabel("beta.kubernetes.io/instance-type", "m"), func(n *scheduling.Node) { delete(n.Object.Labels, typeKey) }),
		node("spot", nodeLabel(typeKey, "m"), nodeLabel(zoneKey, "a"), nodeLabel(capacityKey, "spot"), ofPool("default")),
		node("elsewhere", nodeLabel(typeKey, "m"), nodeLabel(zoneKey, "z"), nodeLabel(capacityKey, "on-demand")),
		node("unknown", nodeLabel(typeKey, "x")),
	)
	prices := func(s *scheduling.Snapshot) map[string]float64 {
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]float64{}
		for _, name := range []string{"a", "b", "spot", "elsewhere", "unknown", "missing"} {
			if price, ok := m.NodePrice(name); ok {
				out[name] = price.Price
				sum := 0.0
				for _, term := range price.Terms {
					sum += term.Amount
				}
				if price.Terms != nil && math.Abs(sum-price.Price) > 1e-9 {
					t.Errorf("%s: the terms of %v add up to %v", name, price.Price, sum)
				}
			}
		}
		return out
	}
	if diff := cmp.Diff(map[string]float64{"a": 1, "b": 1, "spot": 0.4}, prices(s)); diff != "" {
		t.Errorf("list prices (-want +got):\n%s", diff)
	}
	s.CostModel = decoded(t, `terms: [{name: t, source: s, commitment: {amount: 1.5}}, {name: f, source: s, perNode: 0.1}, {name: p, source: s, percent: 100, where: {nodePools: [default]}}]`)
	if diff := cmp.Diff(map[string]float64{"a": 0.1, "b": 0.6, "spot": 1}, prices(s), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("with terms (-want +got):\n%s", diff)
	}
}

// A trial that hides a node gives others what it used of a commitment, and takes it back when it is rolled back.
func TestHiddenNodesFreeCommitments(t *testing.T) {
	s := priced(node("n", allocatable("cpu=3", "memory=9Gi"), nodeLabel(typeKey, "m"), nodeLabel(zoneKey, "a"), nodeLabel(capacityKey, "on-demand"), bound(pod("on-n", requests("cpu=3")))))
	s.Pods = nil
	s.CostModel = decoded(t, `terms: [{name: t, source: s, commitment: {amount: 1}}]`)
	s.Pods = []*corev1.Pod{requestsPod()}
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	trial := m.Trial()
	place := func() float64 {
		out, err := trial.Place(t.Context(), scheduling.PlaceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out.NewCost
	}
	before := trial.Mark()
	if got := place(); got != 1 {
		t.Errorf("next to the node a new one costs %v, want 1", got)
	}
	mustRollback(t, trial, before)
	if _, err := trial.Hide("n"); err != nil {
		t.Fatal(err)
	}
	if got := place(); math.Abs(got-0.4) > 1e-9 { // of two nodes the one that may not be spot is covered
		t.Errorf("in its stead two new ones cost %v, want 0.4", got)
	}
	mustRollback(t, trial, before)
	if got := place(); got != 1 {
		t.Errorf("after a rollback a new node costs %v, want 1", got)
	}
}

// A table says of each offering what a function does, and is replayed without it.
func TestTabulate(t *testing.T) {
	s := priced()
	carbon := scheduling.Tabulate("carbon", "grid of zone a", s.Catalogs["types"], func(it *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
		cpu := it.Capacity[corev1.ResourceCPU]
		if o.CapacityType() == v1.CapacityTypeSpot {
			return 0
		}
		return 0.02 * cpu.AsApproximateFloat64()
	})
	if len(carbon.Offerings) != 1 {
		t.Errorf("%d offerings, want 1", len(carbon.Offerings))
	}
	s.CostModel = &scheduling.CostModel{Terms: []scheduling.CostTerm{carbon}}
	for name, encode := range encodings() {
		var b bytes.Buffer
		if err := encode(s, &b); err != nil {
			t.Fatal(err)
		}
		back, err := scheduling.DecodeSnapshot(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.CostModel, back.CostModel); diff != "" {
			t.Errorf("%s (-before +after):\n%s", name, diff)
		}
		wantCost(t, solve(t, back), 1.08)
	}
}

// A model that breaks a rule is refused with the path of the field, by DecodeCostModel and by Compile alike.
func TestCostModelErrors(t *testing.T) {
	term := func(text string) string { return "terms: [{name: t, source: s, " + text + "}]" }
	for _, c := range []struct{ name, text, path string }{
		{"no name", `terms: [{source: s, percent: 1}]`, "terms[0].name"},
		{"the name of the list price", `terms: [{name: list price, source: s, percent: 1}]`, "terms[0].name"},
		{"a name twice", `terms: [{name: t, source: s, percent: 1}, {name: t, source: s, percent: 1}]`, "terms[1].name"},
		{"no source", `terms: [{name: t, percent: 1}]`, "terms[0].source"},
		{"no effect", `terms: [{name: t, source: s}]`, "terms[0]"},
		{"two effects", term("percent: 1, perNode: 1"), "terms[0]"},
		{"percent", term("percent: -101"), "terms[0].percent"},
		{"per node", term("perNode: 1.0e10"), "terms[0].perNode"},
		{"price", term("price: -1"), "terms[0].price"},
		{"per resource", term("perResource: {cpu: 1, memory: -1.0e12}"), "terms[0].perResource[memory]"},
		{"a resource without a name", term(`perResource: {"": 1}`), "terms[0].perResource"},
		{"an offering twice", term("offerings: [{offering: {instanceType: m}, amount: 1}, {offering: {instanceType: m}, amount: 1}]"), "terms[0].offerings[1].offering"},
		{"an offering of no type", term("offerings: [{offering: {zone: a}, amount: 1}]"), "terms[0].offerings[0].offering"},
		{"an amount", term("offerings: [{offering: {instanceType: m}, amount: 1.0e10}]"), "terms[0].offerings[0].amount"},
		{"a requirement", term("percent: 1, where: {requirements: [{key: a, operator: Is}]}"), "terms[0].where.requirements[0]"},
		{"a pool without a name", term(`percent: 1, where: {nodePools: [a, ""]}`), "terms[0].where.nodePools[1]"},
		{"an empty commitment", term("commitment: {}"), "terms[0].commitment.amount"},
		{"a commitment of two kinds", term("commitment: {amount: 1, percentOfPrice: 5, byType: {m: 1}}"), "terms[0].commitment"},
		{"a share above 100", term("commitment: {amount: 1, percentOfPrice: 101}"), "terms[0].commitment.percentOfPrice"},
		{"a type that uses nothing", term("commitment: {amount: 1, byType: {m: 0}}"), "terms[0].commitment.byType[m]"},
		{"nothing saved", term("commitment: {amount: 1, remainingPercent: 100}"), "terms[0].commitment.remainingPercent"},
		{"more than all remains", term("commitment: {amount: 1, remainingPercent: 120}"), "terms[0].commitment.remainingPercent"},
		{"too many terms", "terms: [" + strings.Repeat("{name: t, source: s, percent: 1},", 257) + "]", "terms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scheduling.DecodeCostModel(strings.NewReader(c.text))
			var got *scheduling.CostModelError
			if !errors.As(err, &got) {
				t.Fatalf("%v", err)
			}
			if got.Path != c.path || got.Cure == "" || !strings.Contains(got.Error(), c.path) {
				t.Errorf("%v, want one about %s", got, c.path)
			}
		})
	}
	for name, text := range map[string]string{
		"unknown field": "terms: [{name: t, source: s, percents: 1}]", "two documents": "{}\n---\nterms: []\n", "empty": " ", "no mapping": "[]",
		"two JSON documents": "{}{}", "JSON with an unknown field": `{"term": []}`, "cut short": `{"terms": [`,
	} {
		if _, err := scheduling.DecodeCostModel(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	s := priced()
	nan := math.NaN()
	s.CostModel = &scheduling.CostModel{Terms: []scheduling.CostTerm{{Name: "t", Source: "s", Percent: &nan}}}
	_, err := scheduling.Compile(s)
	var refused *scheduling.SnapshotError
	if !errors.As(err, &refused) || refused.Path != "costModel.terms[0].percent" {
		t.Errorf("Compile: %v", err)
	}
}

// Update prices again by the model of the later snapshot.
func TestUpdateTakesTheCostModel(t *testing.T) {
	s := priced()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	later := *s
	later.CostModel = decoded(t, `terms: [{name: t, source: s, percent: 50}]`)
	costlier, err := m.Update(&later)
	if err != nil {
		t.Fatal(err)
	}
	again, err := costlier.Update(s)
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[*scheduling.Model]float64{m: 1, costlier: 1.5, again: 1} {
		p, err := model.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		wantCost(t, p, want)
	}
}

// A commitment steers the plan: to the type that it covers although another is cheaper by list price, and no further than it
// lasts.
func TestPlansForCommitments(t *testing.T) {
	onDemand := func(name string, price float64, capacity ...string) any {
		return sold(typeOf(name, price, capacity...), offering("a", v1.CapacityTypeOnDemand, price), offering("b", v1.CapacityTypeOnDemand, price))
	}
	types := []any{onDemand("old", 0.24, "cpu=4", "memory=16Gi"), onDemand("new", 0.2, "cpu=4", "memory=16Gi"), onDemand("big", 0.48, "cpu=8", "memory=32Gi")}
	for _, c := range []struct {
		name, terms string
		pods        []*corev1.Pod
		want        map[string]int
		cost        float64
	}{
		{"reserved instances of a more expensive type", `[{name: ri, source: s, where: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [old]}]}, commitment: {amount: 3}}]`,
			pods("p", 5, requests("cpu=4")), map[string]int{"old": 3, "new": 2}, 0.4},
		{"size-flexible ones", `[{name: ri, source: s, commitment: {amount: 24, unit: normalized units, byType: {old: 8, big: 17}}}]`,
			pods("p", 5, requests("cpu=4")), map[string]int{"old": 3, "new": 2}, 0.4},
		{"in zone b", `[{name: ri, source: s, where: {requirements: [{key: topology.kubernetes.io/zone, operator: In, values: [b]}, {key: node.kubernetes.io/instance-type, operator: In, values: [old]}]}, commitment: {amount: 3}}]`,
			pods("p", 5, requests("cpu=4")), map[string]int{"old": 3, "new": 2}, 0.4},
		{"a savings plan", `[{name: sp, source: s, commitment: {amount: 0.28, percentOfPrice: 70}}]`,
			pods("p", 5, requests("cpu=4")), map[string]int{"new": 5}, 0.6},
		{"both in order", `[{name: ri, source: s, where: {requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [old]}]}, commitment: {amount: 1}}, {name: sp, source: s, commitment: {amount: 0.28, percentOfPrice: 70}}]`,
			pods("p", 5, requests("cpu=4")), map[string]int{"old": 1, "new": 4}, 0.4},
		{"a fee per node makes few large nodes", `[{name: fee, source: s, perNode: 0.2}]`,
			pods("p", 4, requests("cpu=4")), map[string]int{"big": 2}, 1.36},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(append(types, c.pods)...)
			s.CostModel = decoded(t, "terms: "+c.terms)
			p := solve(t, s)
			got := map[string]int{}
			for i := range p.NewNodes {
				got[p.NewNodes[i].InstanceTypes[0].Name]++
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("types (-want +got):\n%s", diff)
			}
			wantCost(t, p, c.cost)
			if p.LowerBound < 0.99*p.HourlyCost {
				t.Errorf("lower bound %v of %v", p.LowerBound, p.HourlyCost)
			}
		})
	}
}

// SCH-040: the bound is one over all types that the plan may end with, also those that alone leave too little variety.
func TestBoundWithMinValues(t *testing.T) {
	two := 2
	pool := nodePool("default", poolNeeds(typeKey, opExists))
	pool.Object.Spec.Template.Spec.Requirements[0].MinValues = &two
	s := cluster(pool, sold(typeOf("four", 0, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.1)),
		sold(typeOf("eight", 0, "cpu=8", "memory=32Gi"), offering("a", v1.CapacityTypeOnDemand, 0.03)), pod("p", requests("cpu=3")))
	p := solve(t, s)
	wantCost(t, p, 0.03)
	if p.LowerBound > p.HourlyCost {
		t.Errorf("lower bound %v of %v", p.LowerBound, p.HourlyCost)
	}
}

// A certificate prices a reservation, and adds up to the bound; one that prices it lower is refused.
func TestCertificateOfReservations(t *testing.T) {
	s := cluster(lent("r", 2), pods("p", 5, requests("cpu=4")))
	p := solve(t, s)
	if len(p.Certificate.Limits) != 1 || p.Certificate.Limits[0].Amount != 2 || p.LowerBound < 0.999*p.HourlyCost {
		t.Fatalf("bound %v of %v, limits %+v", p.LowerBound, p.HourlyCost, p.Certificate.Limits)
	}
	forged := *p
	certificate := *p.Certificate
	certificate.Limits = append([]planning.CertificateLimit(nil), p.Certificate.Limits...)
	certificate.Limits[0].Value -= 0.01
	forged.Certificate, forged.LowerBound = &certificate, p.LowerBound+0.02
	if faults := planvalidator.Check(s, &forged); !strings.Contains(errorsText(faults), "could hold") {
		t.Errorf("a reservation priced too low: %v", faults)
	}
}

func errorsText(faults []planvalidator.Fault) string {
	var b strings.Builder
	for _, f := range faults {
		b.WriteString(f.Error() + "\n")
	}
	return b.String()
}

// FuzzDecodeCostModel looks for input that crashes the parser, that breaks a rule but passes, or that does not survive being
// planned with.
func FuzzDecodeCostModel(f *testing.F) {
	f.Add(`terms: [{name: t, source: s, percent: -9}]`)
	f.Add(`{"terms": [{"name": "t", "source": "s", "commitment": {"amount": 1e-9, "byType": {"m": 1e9}}}]}`)
	f.Add(`terms: [{name: a, source: s, price: 1.0e9}, {name: b, source: s, perResource: {cpu: 1.0e9}}, {name: c, source: s, commitment: {amount: 1.0e9, percentOfPrice: 1.0e-9}}]`)
	f.Add("terms: [{name: t, source: s, percent: 1.0e6, where: {nodePools: [default], requirements: [{key: team, operator: DoesNotExist}]}}]")
	s := priced()
	f.Fuzz(func(t *testing.T, text string) {
		c, err := scheduling.DecodeCostModel(strings.NewReader(text))
		if err != nil {
			return
		}
		with := *s
		with.CostModel = c
		m, err := scheduling.Compile(&with)
		if err != nil {
			t.Fatalf("%v", err)
		}
		p, err := m.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(p.HourlyCost) || p.HourlyCost < 0 || p.LowerBound > p.HourlyCost*(1+1e-6)+1e-6 || len(p.NewNodes) != 1 {
			t.Errorf("cost %v, bound %v", p.HourlyCost, p.LowerBound)
		}
	})
}
