package discounts_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/discounts"
)

var now = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

// snapshot has a pool of one type of 4 cores, $0.20 on demand and $0.07 spot in zones a and b, and n pods that need a node each.
func snapshot(n int) *scheduling.Snapshot {
	it := build.InstanceType("m5.xlarge", build.CPU("4"), build.Memory("16Gi"))
	it.Requirements = requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, "m5.xlarge"), requirements.In(corev1.LabelOSStable, "linux"))
	it.Offerings = nil
	for _, zone := range []string{"a", "b"} {
		it.Offerings = append(it.Offerings, build.Offering(zone, v1.CapacityTypeOnDemand, 0.2), build.Offering(zone, v1.CapacityTypeSpot, 0.07))
	}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "pool"}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	s := &scheduling.Snapshot{
		Time: now, Vocabulary: requirements.CoreVocabulary(), Catalogs: map[string][]*cloudprovider.InstanceType{"all": {it}},
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: pool, Catalog: "all"}},
	}
	for i := range n {
		s.Pods = append(s.Pods, build.Pod("p-"+string(rune('a'+i)), build.CPU("3")))
	}
	return s
}

func account() *commitments.Account {
	return &commitments.Account{
		ReadAt: now,
		Commitments: []commitments.Commitment{
			{ID: "ri/a", Kind: commitments.ReservedInstances, Source: "DescribeReservedInstances", Amount: 1, Unit: "instances", ByType: map[string]float64{"m5.xlarge": 1}, Zone: "a", OS: "linux"},
			{ID: "sp/1", Kind: commitments.ComputeSavingsPlan, Source: "DescribeSavingsPlans", Amount: 0.3, Unit: "USD/h", ByType: map[string]float64{"m5.xlarge": 0.15}, OS: "linux"},
		},
		Discounts: []commitments.Discount{{Name: "EDP", Source: "Cost Explorer", Percent: 10}},
	}
}

// What is paid for is used before spot capacity is bought: one node under the Reserved Instance in its zone, two under the plan, and the
// rest is spot with the discount. What others use of it is not counted on.
func TestUnusedCommitmentsBeatSpot(t *testing.T) {
	for _, c := range []struct {
		name     string
		pods     int
		reports  []commitments.ClusterUse
		onDemand int
		cost     float64
	}{
		{"one pod", 1, nil, 1, 0},
		{"as many as are paid for", 3, nil, 3, 0},
		{"two more", 5, nil, 3, 2 * 0.063},
		{"another cluster uses the plan", 3, []commitments.ClusterUse{{Cluster: "other", At: now, Uses: commitments.Uses{"sp/1": 0.3}}}, 1, 2 * 0.063},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, a := snapshot(c.pods), account()
			terms, err := discounts.Terms(a, a.Available("me", discounts.Use(a, s), c.reports, now))
			if err != nil {
				t.Fatal(err)
			}
			s.CostModel = &scheduling.CostModel{Terms: terms}
			m, err := scheduling.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := m.Solve(t.Context(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			onDemand := 0
			for _, n := range plan.NewNodes {
				if n.InstanceTypes[0].CapacityType == v1.CapacityTypeOnDemand {
					onDemand++
				}
			}
			if onDemand != c.onDemand || math.Abs(plan.HourlyCost-c.cost) > 1e-6 {
				t.Errorf("%d nodes on demand, cost %v; want %d, %v", onDemand, plan.HourlyCost, c.onDemand, c.cost)
			}
		})
	}
}

// Commitments for shared hardware do not cover nodes on dedicated hardware. Nodes without the label count as shared.
func TestCommitmentsByTenancy(t *testing.T) {
	const label = "karpenter.k8s.aws/instance-tenancy"
	for _, c := range []struct {
		offered []string
		cost    float64
	}{
		{nil, 0}, {[]string{"default", "dedicated"}, 0}, {[]string{"dedicated"}, 0.063}, {[]string{"host"}, 0.063},
	} {
		s, a := snapshot(1), account()
		for i := range a.Commitments {
			a.Commitments[i].Tenancy = "default"
		}
		if c.offered != nil {
			it := s.Catalogs["all"][0]
			it.Requirements = it.Requirements.With(requirements.In(label, c.offered...))
		}
		terms, err := discounts.Terms(a, a.Available("me", discounts.Use(a, s), nil, now))
		if err != nil {
			t.Fatal(err)
		}
		s.CostModel = &scheduling.CostModel{Terms: terms}
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := m.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(plan.HourlyCost-c.cost) > 1e-6 {
			t.Errorf("with tenancies %v the node costs %v, want %v", c.offered, plan.HourlyCost, c.cost)
		}
	}
	a := &commitments.Account{Commitments: []commitments.Commitment{{ID: "x", Source: "s", Amount: 10, Unit: "instances", ByType: map[string]float64{"m5.large": 1}, Tenancy: "default"}}}
	for tenancy, want := range map[string]float64{"": 1, "default": 1, "dedicated": 0} {
		if got := a.Use([]commitments.Running{{InstanceType: "m5.large", Tenancy: tenancy, Count: 1}})["x"]; got != want {
			t.Errorf("an instance of tenancy %q uses %v, want %v", tenancy, got, want)
		}
	}
}

// Nodes use commitments by their labels, or by those of their claims before they have joined; spot nodes and those that leave use none.
func TestUse(t *testing.T) {
	labels := func(zone, capacityType string) map[string]string {
		return map[string]string{corev1.LabelInstanceTypeStable: "m5.xlarge", corev1.LabelTopologyZone: zone, v1.CapacityTypeLabelKey: capacityType, corev1.LabelOSStable: "linux"}
	}
	s := snapshot(0)
	object := func(l map[string]string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: l}} }
	s.Nodes = []scheduling.Node{
		{Name: "joined", Object: object(labels("a", "on-demand"))},
		{Name: "launched", Claim: &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Labels: labels("b", "on-demand")}}},
		{Name: "spot", Object: object(labels("a", "spot"))},
		{Name: "leaving", Object: object(labels("a", "on-demand")), Leaving: true},
		{Name: "windows", Object: object(map[string]string{corev1.LabelInstanceTypeStable: "m5.xlarge", v1.CapacityTypeLabelKey: "on-demand", corev1.LabelOSStable: "windows"})},
	}
	want := commitments.Uses{"ri/a": 1, "sp/1": 0.15}
	if diff := cmp.Diff(want, discounts.Use(account(), s), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := discounts.Use(nil, s); len(got) != 0 {
		t.Errorf("without an account: %v", got)
	}
}

// Terms say where their amounts come from, and what is not available has none.
func TestTerms(t *testing.T) {
	a := account()
	a.Commitments[0].Foreign = 1
	terms, err := discounts.Terms(a, a.Available("me", nil, []commitments.ClusterUse{{Cluster: "b", At: now, Uses: commitments.Uses{"sp/1": 0.1}}}, now))
	if err != nil {
		t.Fatal(err)
	}
	if len(terms) != 2 || terms[0].Name != "commitment sp/1" || terms[1].Name != "discount EDP" {
		t.Fatalf("%+v", terms)
	}
	if want := "DescribeSavingsPlans; other clusters use 0.1 USD/h"; terms[0].Source != want {
		t.Errorf("source %q, want %q", terms[0].Source, want)
	}
	if math.Abs(terms[0].Commitment.Amount-0.2) > 2e-6 || *terms[1].Percent != -10 {
		t.Errorf("amounts %v, %v", terms[0].Commitment.Amount, *terms[1].Percent)
	}
	a.Discounts[0].Percent = 0
	if _, err := discounts.Terms(a, nil); err == nil {
		t.Error("an account that is not valid is taken")
	}
}

func TestUnused(t *testing.T) {
	plan := &scheduling.Plan{Commitments: []scheduling.CommitmentUse{{Name: "full", Amount: 2, Existing: 1, Planned: 1}, {Name: "half", Amount: 2, Existing: 1}, {Name: "empty", Amount: 1}}}
	var names []string
	for _, c := range discounts.Unused(plan) {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"empty", "half"}, names); diff != "" {
		t.Error(diff)
	}
}
