package market_test

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/cloudprovider/commitments"
	"github.com/drawknife/drawknife/examples/controller/market"
	"github.com/drawknife/drawknife/examples/controller/reconcilers"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/spotrisk"
)

var _ reconcilers.MarketObserver = (*market.Costs)(nil)

var start = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func key(name, capacityType string) cloudprovider.OfferingKey {
	return cloudprovider.OfferingKey{InstanceType: name, Zone: "a", CapacityType: capacityType}
}

func instanceType(name string, spot float64) *cloudprovider.InstanceType {
	it := build.InstanceType(name, build.CPU("4"), build.Memory("16Gi"))
	it.Requirements = requirements.NewSet(requirements.In(corev1.LabelInstanceTypeStable, name), requirements.In(corev1.LabelOSStable, "linux"))
	it.Offerings = []cloudprovider.Offering{build.Offering("a", v1.CapacityTypeOnDemand, 0.2), build.Offering("a", v1.CapacityTypeSpot, spot)}
	it.Offerings[1].PriceBasis = &cloudprovider.PriceBasis{Confidence: cloudprovider.PriceCurrent}
	it.Offerings[1].InterruptionRate = &cloudprovider.InterruptionRate{Low: 0, High: 0.05}
	return it
}

func snapshot(at time.Time, types ...*cloudprovider.InstanceType) *scheduling.Snapshot {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "pool"}}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	return &scheduling.Snapshot{
		Time: at, Vocabulary: requirements.CoreVocabulary(), Catalogs: map[string][]*cloudprovider.InstanceType{"all": types},
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: pool, Catalog: "all"}},
	}
}

func node(name, instanceType, capacityType string) scheduling.Node {
	return scheduling.Node{Name: name, Object: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelInstanceTypeStable: instanceType, corev1.LabelTopologyZone: "a", v1.CapacityTypeLabelKey: capacityType, corev1.LabelOSStable: "linux",
	}}}}
}

func newCosts(t *testing.T, change func(*market.CostsOptions)) (*market.Costs, *spotrisk.Market) {
	t.Helper()
	m, err := spotrisk.New(spotrisk.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	o := market.CostsOptions{Cluster: "demo", SpotRisk: m}
	if change != nil {
		change(&o)
	}
	costs, err := market.NewCosts(o)
	if err != nil {
		t.Fatal(err)
	}
	return costs, m
}

// What is observed changes the prices that are planned with: interruptions of own nodes, their time, refused launches and prices of the past.
func TestObservations(t *testing.T) {
	calm, rough := instanceType("calm", 0.1), instanceType("rough", 0.1)
	costs, spot := newCosts(t, nil)
	cost := func(it *cloudprovider.InstanceType, at time.Time) spotrisk.Cost {
		return spot.Cost(it, &it.Offerings[1], spotrisk.DefaultLoss(), at)
	}
	at := start
	for range 24 * 60 {
		s := snapshot(at, calm, rough)
		s.Nodes = []scheduling.Node{node("n1", "calm", "spot"), node("n2", "rough", "spot"), node("n3", "calm", "on-demand")}
		costs.Model(s)
		at = at.Add(time.Minute)
	}
	before := cost(rough, at)
	if got := cost(calm, at); got.PerMonth != before.PerMonth {
		t.Errorf("equal types are interrupted %v and %v times a month", got.PerMonth, before.PerMonth)
	}
	for range 6 {
		costs.Interrupted(key("rough", "spot"), at)
		costs.Refused([]cloudprovider.OfferingKey{key("rough", "spot"), key("rough", "on-demand")}, at)
		costs.Launched(key("calm", "spot"), at)
	}
	after := cost(rough, at)
	if after.PerMonth <= 1.5*before.PerMonth || after.Refused <= before.Refused || cost(calm, at).Refused >= before.Refused {
		t.Errorf("observed: %+v, before %+v", after, before)
	}
	// A price that falls is expected to return.
	cheap := instanceType("calm", 0.05)
	model := costs.Model(snapshot(at.Add(time.Hour), cheap, rough))
	amount := 0.0
	for _, term := range model.Terms {
		for _, o := range term.Offerings {
			if term.Name == spotrisk.LevelTerm && o.Offering.InstanceType == "calm" {
				amount = o.Amount
			}
		}
	}
	if amount < 0.005 {
		t.Errorf("a price that fell by half is raised by %v", amount)
	}
}

// The model is the same pointer until something changes, and within a minute no terms of risk are computed again.
func TestModelIsStable(t *testing.T) {
	costs, spot := newCosts(t, func(o *market.CostsOptions) { o.Loss = &spotrisk.Loss{PerNode: 10} })
	it := instanceType("m", 0.1)
	first := costs.Model(snapshot(start, it))
	if len(first.Terms) == 0 || costs.Model(snapshot(start.Add(10*time.Second), it)) != first {
		t.Error("an equal model has another pointer")
	}
	spot.ObserveInterruption(spotrisk.Key{InstanceType: "m", Zone: "a"}, start)
	if costs.Model(snapshot(start.Add(20*time.Second), it)) != first {
		t.Error("terms are computed again within a minute")
	}
	if costs.Model(snapshot(start.Add(2*time.Minute), it)) == first {
		t.Error("an interruption does not show after two minutes")
	}
	if costs.Model(nil) != nil {
		t.Error("a model of no snapshot")
	}
}

// Commitments become terms with what is left of them, and what own nodes use is what other clusters are told.
func TestCommitmentsInTheModel(t *testing.T) {
	account := &commitments.Account{Commitments: []commitments.Commitment{
		{ID: "sp", Kind: commitments.ComputeSavingsPlan, Source: "test", Amount: 1, Unit: "USD/h", ByType: map[string]float64{"m": 0.15}},
	}}
	costs, _ := newCosts(t, func(o *market.CostsOptions) {
		o.SpotRisk, o.Commitments = nil, func() *commitments.Account { return account }
		o.Reports = func() []commitments.ClusterUse {
			return []commitments.ClusterUse{{Cluster: "other", At: start, Uses: commitments.Uses{"sp": 0.4}}}
		}
	})
	s := snapshot(start, instanceType("m", 0.1))
	s.Nodes = []scheduling.Node{node("n1", "m", "on-demand"), node("n2", "m", "on-demand"), node("n3", "m", "spot")}
	model := costs.Model(s)
	if len(model.Terms) != 1 || math.Abs(model.Terms[0].Commitment.Amount-0.6) > 2e-6 {
		t.Errorf("terms %+v, want $0.60 of the plan", model.Terms)
	}
	if got := costs.Uses()["sp"]; math.Abs(got-0.3) > 1e-9 {
		t.Errorf("two nodes use %v, want 0.30", got)
	}
	s.CostModel = model
	if _, err := scheduling.Compile(s); err != nil {
		t.Error(err)
	}
}

// A model that can't be is no reason not to plan: it is logged once, and list prices are used.
func TestBadAccount(t *testing.T) {
	var log bytes.Buffer
	account := &commitments.Account{Commitments: []commitments.Commitment{{ID: "sp", Source: "test", Amount: -1, Unit: "u", ByType: map[string]float64{"m": 1}}}}
	costs, _ := newCosts(t, func(o *market.CostsOptions) {
		o.SpotRisk, o.Commitments, o.Logger = nil, func() *commitments.Account { return account }, slog.New(slog.NewTextHandler(&log, nil))
	})
	for range 3 {
		if model := costs.Model(snapshot(start, instanceType("m", 0.1))); len(model.Terms) != 0 {
			t.Errorf("terms %+v", model.Terms)
		}
	}
	if n := strings.Count(log.String(), "cannot compute the terms of commitments and discounts"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

func TestCostsOptions(t *testing.T) {
	if _, err := market.NewCosts(market.CostsOptions{Commitments: func() *commitments.Account { return nil }}); err == nil || !strings.Contains(err.Error(), "Cluster") {
		t.Errorf("without a cluster: %v", err)
	}
	if _, err := market.NewCosts(market.CostsOptions{Loss: &spotrisk.Loss{PerNode: -1}}); err == nil {
		t.Error("a negative loss is taken")
	}
}

// Fees count together with spot risk.
func TestFeesCount(t *testing.T) {
	usd := 0.005
	fees := &scheduling.CostModel{Terms: []scheduling.CostTerm{{Name: "public-ipv4", Source: "test", PerNode: &usd}}}
	costs, _ := newCosts(t, func(o *market.CostsOptions) {
		o.Fees = func(*scheduling.Snapshot) *scheduling.CostModel { return fees }
	})
	terms := costs.Model(snapshot(start, instanceType("calm", 0.1))).Terms
	if len(terms) < 2 || terms[0].Name != spotrisk.InterruptionsTerm || terms[len(terms)-1].Name != "public-ipv4" {
		t.Errorf("terms %+v, want the risk first and the fee last", terms)
	}
}
