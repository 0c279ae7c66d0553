package model

import (
	"errors"
	"fmt"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// compileCosts reads the snapshot's cost model and sets the prices of each pool.
func (m *Model) compileCosts(s *planning.Snapshot) (err error) {
	if m.Costs, err = ReadCosts(s.CostModel, m.Vocab); err == nil {
		m.priceCatalogs(s)
	}
	return err
}

// ReadCosts prepares a cost model for computing prices. It returns nil if the cost model has no terms. The error is a *SnapshotError.
func ReadCosts(costs *planning.CostModel, vocabulary *requirements.Lookup) (*market.Costs, error) {
	if err := costs.Validate(); err != nil {
		var at *planning.CostModelError
		if errors.As(err, &at) {
			return nil, &planning.SnapshotError{Path: "costModel." + at.Path, Rule: at.Rule, Cure: at.Cure}
		}
		return nil, err
	}
	if costs == nil || len(costs.Terms) == 0 {
		return nil, nil
	}
	out := &market.Costs{}
	for i := range costs.Terms {
		from := &costs.Terms[i]
		t := market.Term{
			Name: from.Name, Source: from.Source, NodePools: from.Where.NodePools,
			Percent: from.Percent, PerNode: from.PerNode, Price: from.Price, PerResource: from.PerResource,
		}
		capacityTyped := false
		for j, e := range from.Where.Requirements {
			r, err := vocabulary.ParseNodeSelectorRequirement(e)
			if err != nil {
				return nil, &planning.SnapshotError{Path: fmt.Sprintf("costModel.terms[%d].where.requirements[%d]", i, j), Rule: "can't be read: " + err.Error(), Cure: "see the rule"}
			}
			t.Where = append(t.Where, r)
			capacityTyped = capacityTyped || r.Key() == v1.CapacityTypeLabelKey
		}
		if from.Offerings != nil {
			t.Table = make(map[cloudprovider.OfferingKey]int64, len(from.Offerings))
			for _, o := range from.Offerings {
				t.Table[o.Offering] = market.NanoUSD(o.Amount)
			}
		}
		if c := from.Commitment; c != nil {
			if !capacityTyped {
				t.Where = append(t.Where, requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand))
			}
			t.Commitment = &market.Commitment{Amount: market.NanoUSD(c.Amount), PercentOfPrice: c.PercentOfPrice, RemainingPercent: c.RemainingPercent, ByType: c.ByType}
			out.Commitments = append(out.Commitments, i)
		}
		out.Terms = append(out.Terms, t)
	}
	return out, nil
}

// priceCatalogs sets the prices of each pool's catalog by the cost model.
func (m *Model) priceCatalogs(s *planning.Snapshot) {
	if m.Costs == nil {
		return
	}
	for i := range s.NodePools {
		name := m.PoolCatalog[i]
		if name == "" || s.NodePools[i].Object == nil {
			continue
		}
		inPool, text := m.Costs.PoolTerms(s.NodePools[i].Identity())
		pricedName := name + "\x00" + s.NodePools[i].Catalog + "\x00" + text
		if m.Catalogs[pricedName] == nil {
			source := fmt.Sprintf("catalog %q", s.NodePools[i].Catalog)
			if m.overlays != nil {
				source += ", NodeOverlays applied"
			}
			m.Catalogs[pricedName] = m.Catalogs[name].Reprice(m.Costs, inPool, source)
		}
		m.PoolCatalog[i] = pricedName
	}
}

// PriceTerms converts the lines of a price to the form that a plan has.
func PriceTerms(lines []market.Line) []planning.PriceTerm {
	out := make([]planning.PriceTerm, len(lines))
	for i, l := range lines {
		out[i] = planning.PriceTerm(l)
	}
	return out
}

// PricedOption returns a price with its lines, in the form that an option of a plan has.
func PricedOption(price float64, lines []market.Line) (float64, []planning.PriceTerm) {
	return price, PriceTerms(lines)
}
