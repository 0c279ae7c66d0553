package existing_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/market"
)

// seller sells one type on demand for 2 USD and on spot for 1, and has paid for one node on demand.
func seller() *existing.Seller {
	types := []*cloudprovider.InstanceType{build.InstanceType("x", build.OnDemand("a", 2), build.Spot("a", 1))}
	costs := &market.Costs{
		Terms: []market.Term{{
			Name: "paid", Where: []requirements.Requirement{requirements.In(v1.CapacityTypeLabelKey, "on-demand")},
			Commitment: &market.Commitment{Amount: market.Whole, ByType: map[string]float64{"x": 1}},
		}},
		Commitments: []int{0},
	}
	terms, _ := costs.PoolTerms(v1.PoolKey{})
	return &existing.Seller{
		Vocab: requirements.CoreVocabulary().Compile(), Costs: costs,
		Catalogs: map[string]*market.Catalog{"c": market.NewCatalog("c", types).Reprice(costs, terms, "c")},
	}
}

func bought(name, capacityType string) existing.Node {
	labels := map[string]string{corev1.LabelInstanceTypeStable: "x"}
	if capacityType != "" {
		labels[v1.CapacityTypeLabelKey] = capacityType
	}
	return existing.Node{Name: name, Source: node(name, labels)}
}

// A node's labels state its offering; one that does not say its capacity type counts as bought on demand.
func TestBoughtAs(t *testing.T) {
	s := seller()
	for capacityType, want := range map[string]string{"": "on-demand", "spot": "spot", "reserved": ""} {
		o, _, ok := s.BoughtAs(bought("n", capacityType).Source)
		if ok != (want != "") || o.Key.CapacityType != want {
			t.Errorf("with capacity type %q it is %v", capacityType, o.Key)
		}
	}
}

// Commitments cover nodes as long as they last, the first by name of equal ones; what hidden nodes use is left for others.
func TestStandings(t *testing.T) {
	s := seller()
	standings := s.Standings([]existing.Node{bought("n", "spot"), bought("b", ""), bought("a", "")})
	if standings.Left[0] != 0 || len(standings.SharesOf(0)) != 0 || len(standings.SharesOf(1)) != 0 || len(standings.SharesOf(2)) != 1 {
		t.Errorf("%d left, shares %v, %v, %v", standings.Left[0], standings.SharesOf(0), standings.SharesOf(1), standings.SharesOf(2))
	}
	if left, _ := standings.Without(s.Costs, []int32{1, 2}); left[0] != market.Whole {
		t.Errorf("without both %d is left", left[0])
	}
	s.Costs = nil
	if got := s.Standings(nil); got != nil {
		t.Errorf("without a cost model there are %v", got)
	}
}
