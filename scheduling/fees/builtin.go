package fees

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/planning"
)

//go:embed fees.yaml
var text []byte

// Fee is a cost of nodes in addition to the list price of their instances.
type Fee struct {
	// Name by which users choose the fee.
	Name string `json:"name"`
	// Unit of the amount by which the prices in Terms are multiplied. A fee with an empty Unit takes no amount.
	Unit string `json:"unit,omitempty"`
	// Amount is the default, if the fee is chosen without an amount; nil if an amount must be given.
	Amount *float64 `json:"amount,omitempty"`
	// PercentOfOnDemand is the fee as a percentage of the on-demand price, also for nodes of other capacity types. It is 0 for other fees.
	PercentOfOnDemand float64 `json:"percentOfOnDemand,omitempty"`
	// Terms state the price of one unit, in USD per hour, and its source. The terms have no names.
	Terms []planning.CostTerm `json:"terms"`
}

// BuiltIn lists all fees by name. The caller owns the list.
func BuiltIn() ([]Fee, error) {
	var file struct {
		Fees []Fee `json:"fees"`
	}
	if err := yaml.UnmarshalStrict(text, &file); err != nil {
		return nil, fmt.Errorf("reading the built-in fees: %w", err)
	}
	slices.SortFunc(file.Fees, func(a, b Fee) int { return strings.Compare(a.Name, b.Name) })
	return file.Fees, nil
}

// terms returns the cost terms of the fee for an amount and the named NodePools. An empty list of NodePools means all nodes.
func (f *Fee) terms(amount float64, pools []string, s *planning.Snapshot) []planning.CostTerm {
	out := make([]planning.CostTerm, 0, len(f.Terms))
	for i, t := range f.Terms {
		if f.PercentOfOnDemand > 0 {
			t.Offerings = shareOfOnDemand(s, f.PercentOfOnDemand)
		}
		if t.PerNode != nil && f.Unit != "" {
			usd := *t.PerNode * amount
			t.PerNode = &usd
		}
		t.Name = f.Name
		if i > 0 {
			t.Name = fmt.Sprintf("%s (%d)", f.Name, i+1)
		}
		t.Where.NodePools = slices.Clone(pools)
		out = append(out, t)
	}
	return out
}

// shareOfOnDemand computes a percentage of the on-demand price in the same zone, for each offering of the snapshot that is not reserved.
func shareOfOnDemand(s *planning.Snapshot, percent float64) []planning.OfferingAmount {
	var types []*cloudprovider.InstanceType
	for _, name := range slices.Sorted(maps.Keys(s.Catalogs)) {
		types = append(types, s.Catalogs[name]...)
	}
	return planning.Tabulate("share", "share", types, func(it *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
		if o.Reserved() {
			return 0
		}
		for i := range it.Offerings {
			if on := &it.Offerings[i]; on.CapacityType() == v1.CapacityTypeOnDemand && on.Zone() == o.Zone() {
				return on.Price * percent / 100
			}
		}
		return 0
	}).Offerings
}
