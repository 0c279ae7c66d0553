package command

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// priceSource is where prices of new nodes come from, and of which day they are.
type priceSource struct {
	CapacityType string  `json:"capacityType"`
	Source       string  `json:"source"`
	Nodes        int     `json:"nodes"`
	HourlyCost   float64 `json:"hourlyCost"`
}

// mark is what stands before the sum of estimates.
func (s priceSource) mark() string {
	if catalog.EstimatedSource(s.Source) {
		return "~"
	}
	return ""
}

// pricing has the sources of a plan's prices.
type pricing struct {
	// sources of the new nodes' prices, by capacity type and source.
	sources []priceSource
	// onDemand is what the same nodes cost on demand, USD per hour; 0 if none is a spot node, or if that is not known.
	onDemand float64
	// estimated: onDemand rests on estimates.
	estimated bool
}

// pricingOf finds the offerings of the plan's nodes in the snapshot. With a cost model nothing is said of on-demand prices, which are
// list prices.
func pricingOf(snapshot *scheduling.Snapshot, plan *scheduling.Plan) pricing {
	type key struct{ capacityType, source string }
	var (
		p     pricing
		found = map[key]*priceSource{}
		// of each catalogue, what pools launch from it
		offers = map[string]map[[3]string]*cloudprovider.Offering{}
		pools  = map[v1.PoolKey]string{}
		spot   = false
		known  = snapshot.CostModel == nil
	)
	for i := range snapshot.NodePools {
		pools[snapshot.NodePools[i].Identity()] = snapshot.NodePools[i].Catalog
	}
	for _, node := range plan.NewNodes {
		if len(node.InstanceTypes) == 0 {
			continue
		}
		name, option := pools[node.Pool], node.InstanceTypes[0]
		if offers[name] == nil {
			offers[name] = offersOf(snapshot.Catalogs[name])
		}
		k := key{capacityType: option.CapacityType}
		if o := offers[name][[3]string{option.Name, option.Zone, option.CapacityType}]; o != nil {
			k.source = o.PriceSource
		}
		if found[k] == nil {
			found[k] = &priceSource{CapacityType: k.capacityType, Source: k.source}
		}
		found[k].Nodes++
		found[k].HourlyCost += option.Price
		switch onDemand := offers[name][[3]string{option.Name, option.Zone, v1.CapacityTypeOnDemand}]; {
		case option.CapacityType != v1.CapacityTypeSpot:
			p.onDemand += option.Price
		case onDemand == nil:
			known = false
		default:
			spot = true
			p.onDemand += onDemand.Price
			p.estimated = p.estimated || catalog.EstimatedSource(onDemand.PriceSource)
		}
	}
	if !spot || !known {
		p.onDemand = 0
	}
	p.onDemand = roundDollars(p.onDemand)
	for _, s := range slices.Collect(maps.Values(found)) {
		s.HourlyCost = roundDollars(s.HourlyCost)
		p.sources = append(p.sources, *s)
	}
	slices.SortFunc(p.sources, func(a, b priceSource) int {
		return cmp.Or(strings.Compare(a.CapacityType, b.CapacityType), strings.Compare(a.Source, b.Source))
	})
	return p
}

func offersOf(types []*cloudprovider.InstanceType) map[[3]string]*cloudprovider.Offering {
	offers := make(map[[3]string]*cloudprovider.Offering)
	for _, t := range types {
		for i := range t.Offerings {
			o := &t.Offerings[i]
			offers[[3]string{t.Name, o.Zone(), o.CapacityType()}] = o
		}
	}
	return offers
}

// write says of which day the prices are, and what spot nodes cost if they have to be bought on demand.
func (r textReport) writePrices(w io.Writer, p pricing) {
	var items []string
	for _, s := range p.sources {
		items = append(items, fmt.Sprintf("%s, %s: %s", counted(s.Nodes, s.CapacityType+" node"), s.mark()+dollars(s.HourlyCost)+"/h", cmp.Or(s.Source, "no source is given")))
	}
	if len(items) == 0 {
		return
	}
	fmt.Fprintln(w, "Prices:")
	for _, item := range items {
		r.writeWrapped(w, "  ", item)
	}
	if p.onDemand > 0 {
		mark := ""
		if p.estimated {
			mark = "~"
		}
		r.writeWrapped(w, "  ", fmt.Sprintf("Spot prices change from day to day. On demand the same nodes cost %s%s/h.", mark, dollars(p.onDemand)))
	}
}
