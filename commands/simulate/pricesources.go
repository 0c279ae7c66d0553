package simulate

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// priceSource is the origin of prices of nodes, with their day, region and reliability.
type priceSource struct {
	CapacityType string `json:"capacityType"`
	Source       string `json:"source"`
	// Date, Region and Confidence are left out if they are not known.
	Date       string  `json:"date,omitempty"`
	Region     string  `json:"region,omitempty"`
	Confidence string  `json:"confidence,omitempty"`
	Nodes      int     `json:"nodes"`
	HourlyCost float64 `json:"hourlyCost"`
}

// mark returns the mark that precedes a sum of estimates, or "".
func (s priceSource) mark() string {
	if s.Confidence == string(cloudprovider.PriceEstimated) {
		return "~"
	}
	return ""
}

// words returns the text that names the origin of the prices.
func (s priceSource) words() string {
	var standing []string
	for _, word := range []string{s.Region, s.Confidence} {
		if word != "" {
			standing = append(standing, word)
		}
	}
	text := cmp.Or(s.Source, "no source is given")
	if len(standing) > 0 {
		text += " (" + strings.Join(standing, ", ") + ")"
	}
	return text
}

// sourcesOf lists the origins of prices.
func sourcesOf(list []planning.PricesFrom) []priceSource {
	out := make([]priceSource, 0, len(list))
	for _, f := range list {
		out = append(out, priceSource{
			CapacityType: f.CapacityType, Source: f.Source, Date: f.Date, Region: f.Region, Confidence: string(f.Confidence),
			Nodes: f.Nodes, HourlyCost: roundDollars(f.HourlyCost),
		})
	}
	return out
}

// pricing describes the prices behind a plan's cost.
type pricing struct {
	// sources are the origins of the new nodes' prices, by capacity type and source.
	sources []priceSource
	// onDemand is what the same nodes cost on demand, USD per hour; 0 if no node is spot, or if it is not known.
	onDemand float64
	// estimated is true if onDemand depends on estimates.
	estimated bool
	// low and high are the costs at the lowest and highest prices seen; 0 if they are not known.
	low, high float64
}

// pricingOf returns the prices in plan.Prices; if it is nil, it returns only the costs of the new nodes by capacity type.
func pricingOf(plan *scheduling.Plan) pricing {
	if p := plan.Prices; p != nil {
		return pricing{
			sources: sourcesOf(p.From), onDemand: roundDollars(p.OnDemandCost), estimated: p.OnDemandEstimated,
			low: roundDollars(p.Low), high: roundDollars(p.High),
		}
	}
	var p pricing
	for _, capacityType := range []string{"on-demand", "reserved", "spot"} {
		s := priceSource{CapacityType: capacityType}
		for i := range plan.NewNodes {
			if o := &plan.NewNodes[i].InstanceTypes[0]; o.CapacityType == capacityType {
				s.Nodes++
				s.HourlyCost = roundDollars(s.HourlyCost + o.Price)
			}
		}
		if s.Nodes > 0 {
			p.sources = append(p.sources, s)
		}
	}
	return p
}

// otherwise is a sentence about the cost at other prices, or "" if no other prices are known.
func (p pricing) otherwise() string {
	mark := ""
	if p.estimated {
		mark = "~"
	}
	switch {
	case p.onDemand > 0 && p.high > 0:
		return fmt.Sprintf("Spot prices change from day to day. In their range the nodes cost %s/h to %s/h, on demand %s%s/h.",
			dollars(p.low), dollars(p.high), mark, dollars(p.onDemand))
	case p.onDemand > 0:
		return fmt.Sprintf("Spot prices change from day to day. On demand the same nodes cost %s%s/h.", mark, dollars(p.onDemand))
	case p.high > 0:
		return fmt.Sprintf("In the range of these prices the nodes cost %s/h to %s/h.", dollars(p.low), dollars(p.high))
	}
	return ""
}

// writePrices prints the sources of the prices, and the cost of the nodes at other prices.
func (r textReport) writePrices(w io.Writer, p pricing) {
	if len(p.sources) == 0 {
		return
	}
	fmt.Fprintln(w, "Prices:")
	for _, s := range p.sources {
		r.writeWrapped(w, "  ", fmt.Sprintf("%s, %s: %s", counted(s.Nodes, s.CapacityType+" node"), s.mark()+dollars(s.HourlyCost)+"/h", s.words()))
	}
	if text := p.otherwise(); text != "" {
		r.writeWrapped(w, "  ", text)
	}
}
