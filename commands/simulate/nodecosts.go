package simulate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// nodePrice is the price of one node in USD per hour. The zero value means that the price is not known.
type nodePrice struct {
	price            float64
	known, estimated bool
	// offering is the offering of the node, if the price is known.
	offering cloudprovider.OfferingKey
}

// figure returns the rounded price for JSON and YAML output, or nil if the price is not known.
func (p nodePrice) figure() *float64 {
	if !p.known {
		return nil
	}
	rounded := roundDollars(p.price)
	return &rounded
}

// nodePrices contains the present price of each node of a snapshot, by name.
type nodePrices map[string]nodePrice

// nodePricesOf returns the prices of the nodes. A node without a capacity type gets the on-demand price, unless labels of an EKS node group
// show another capacity type.
func (s *simulation) nodePricesOf(snapshot *scheduling.Snapshot) (nodePrices, error) {
	labelled := *snapshot
	labelled.Nodes = slices.Clone(snapshot.Nodes)
	for i := range labelled.Nodes {
		n := &labelled.Nodes[i]
		if n.Object == nil || n.Object.Labels[v1.CapacityTypeLabelKey] != "" {
			continue
		}
		n.Object = n.Object.DeepCopy()
		if n.Object.Labels == nil {
			n.Object.Labels = make(map[string]string)
		}
		n.Object.Labels[v1.CapacityTypeLabelKey] = boughtAs(n.Object.Labels)
	}
	model, err := scheduling.Compile(&labelled, scheduling.WithDeviceMatcher(s.matcher))
	if err != nil {
		return nil, fmt.Errorf("compiling the snapshot: %w", err)
	}
	prices := make(nodePrices, len(labelled.Nodes))
	for i := range labelled.Nodes {
		n := &labelled.Nodes[i]
		price, ok := model.NodePrice(n.Name)
		p := nodePrice{price: price.Price, known: ok, offering: price.Offering}
		if ok && n.Object != nil {
			p.estimated = s.assumed.isEstimated(instanceTypeOf(n.Object), n.Object.Labels[v1.CapacityTypeLabelKey])
		}
		prices[n.Name] = p
	}
	return prices, nil
}

// boughtAs returns the capacity type of a node with these labels.
func boughtAs(of map[string]string) string {
	if own := of[v1.CapacityTypeLabelKey]; own != "" {
		return own
	}
	if of[eksCapacityType] == "SPOT" {
		return v1.CapacityTypeSpot
	}
	return v1.CapacityTypeOnDemand
}

// eksCapacityType is the label that EKS sets on nodes of a managed group to their capacity type: ON_DEMAND or SPOT.
const eksCapacityType = "eks.amazonaws.com/capacityType"

// cost adds up the prices of the nodes in a fixed order.
func (p nodePrices) cost() nodeCost {
	var c nodeCost
	for _, name := range sortedKeys(p) {
		c.add(p[name])
	}
	return c
}

// sources returns the origins of the known prices: the price sources of the nodes' offerings.
func (p nodePrices) sources(snapshot *scheduling.Snapshot) []priceSource {
	wanted := make(map[string]bool)
	for _, price := range p {
		wanted[price.offering.InstanceType] = price.known
	}
	offers := make(map[cloudprovider.OfferingKey]*cloudprovider.Offering)
	for _, catalog := range sortedKeys(snapshot.Catalogs) {
		for _, t := range snapshot.Catalogs[catalog] {
			for i := range t.Offerings {
				if key := cloudprovider.KeyOf(t, &t.Offerings[i]); wanted[t.Name] && offers[key] == nil {
					offers[key] = &t.Offerings[i]
				}
			}
		}
	}
	found := make(map[priceSource]*priceSource)
	for _, name := range sortedKeys(p) {
		price := p[name]
		if !price.known {
			continue
		}
		key := priceSource{CapacityType: price.offering.CapacityType}
		if o := offers[price.offering]; o != nil {
			key.Source = o.PriceSource
			if b := o.PriceBasis; b != nil {
				key.Date, key.Region, key.Confidence = b.Date, b.Region, string(b.Confidence)
			}
		}
		if found[key] == nil {
			s := key
			found[key] = &s
		}
		found[key].Nodes++
		found[key].HourlyCost += price.price
	}
	out := make([]priceSource, 0, len(found))
	for _, s := range found {
		s.HourlyCost = roundDollars(s.HourlyCost)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b priceSource) int {
		return cmp.Or(strings.Compare(a.CapacityType, b.CapacityType), strings.Compare(a.words(), b.words()), strings.Compare(a.Date, b.Date))
	})
	return out
}

// The result of only contains the prices of the nodes with these names.
func (p nodePrices) only(names map[string]bool) nodePrices {
	out := make(nodePrices, len(names))
	for name := range names {
		out[name] = p[name]
	}
	return out
}

// nodeCost is the total cost of a group of nodes, as far as their prices are known.
type nodeCost struct {
	nodes int
	// cost is the sum of the known prices, in USD per hour; unpriced is the number of nodes without a known price.
	cost     float64
	unpriced int
	// estimated is the number of nodes with an estimated price.
	estimated int
}

func (c *nodeCost) add(p nodePrice) { c.count(p, 1) }

// remove subtracts the price of a node that was added before.
func (c *nodeCost) remove(p nodePrice) { c.count(p, -1) }

func (c *nodeCost) count(p nodePrice, sign int) {
	c.nodes += sign
	if !p.known {
		c.unpriced += sign
		return
	}
	c.cost += float64(sign) * p.price
	if p.estimated {
		c.estimated += sign
	}
}

// figure returns the sum for documents, or nil if no node has a known price.
func (c *nodeCost) figure() *float64 {
	if c.unknown() {
		return nil
	}
	rounded := roundDollars(c.cost)
	return &rounded
}

// unknown reports whether there are nodes, but no node has a known price.
func (c *nodeCost) unknown() bool { return c.nodes > 0 && c.unpriced == c.nodes }

// dollars returns the sum of the known prices, with a mark if a price is an estimate: "$0.1248", "~$0.1248".
func (c *nodeCost) dollars() string {
	if c.estimated > 0 {
		return "~" + dollars(roundDollars(c.cost))
	}
	return dollars(roundDollars(c.cost))
}

// cell returns the sum for a column of a table: "0.1248", "~0.1248", "unknown", "0.1248 + unknown".
func (c *nodeCost) cell() string {
	text := strings.Replace(c.dollars(), "$", "", 1)
	switch c.unpriced {
	case 0:
		return text
	case c.nodes:
		return "unknown"
	}
	return text + " + unknown"
}

// The method at returns the cost as a text that follows the number of nodes, such as "at $0.1248/h" or "at an unknown price".
func (c *nodeCost) at() string {
	switch c.unpriced {
	case 0:
		return "at " + c.dollars() + "/h"
	case c.nodes:
		return "at an unknown price"
	}
	return fmt.Sprintf("(%s of them at %s/h, %s at an unknown price)", number(c.nodes-c.unpriced), c.dollars(), number(c.unpriced))
}

// String returns "$0.1248/h", "$0.1248/h and 2 nodes at an unknown price", "2 nodes at an unknown price".
func (c *nodeCost) String() string {
	switch {
	case c.unpriced == 0:
		return c.dollars() + "/h"
	case c.unknown():
		return counted(c.nodes, "node") + " at an unknown price"
	}
	return fmt.Sprintf("%s/h and %s at an unknown price", c.dollars(), counted(c.unpriced, "node"))
}

// unpriced lists nodes without a known price, with the known details: "a (z9.huge in eu-west-1a)".
type unpriced []string

// unpricedOf returns the nodes that are in prices, but without a known price.
func unpricedOf(snapshot *scheduling.Snapshot, prices nodePrices) unpriced {
	var out unpriced
	for i := range snapshot.Nodes {
		n := &snapshot.Nodes[i]
		if p, ok := prices[n.Name]; !ok || p.known {
			continue
		}
		instanceType, zone := "", ""
		if n.Object != nil {
			instanceType, zone = instanceTypeOf(n.Object), zoneOf(n.Object)
		}
		switch {
		case instanceType == "":
			instanceType = "no instance type"
		case zone == "":
			zone = "no zone"
		}
		out = append(out, fmt.Sprintf("%s (%s)", n.Name, strings.TrimSuffix(instanceType+" in "+zone, " in ")))
	}
	slices.Sort(out)
	return out
}

// sentence returns a remark that names the first mostNamed nodes, or all nodes if all is true.
func (u unpriced) sentence(all bool) string {
	names := slices.Clone([]string(u))
	if more := len(names) - mostNamed; more > 0 && !all {
		names = append(names[:mostNamed], counted(more, "more node"))
	}
	return fmt.Sprintf("What %s is not known, no catalogue has an offering like theirs: %s", costOf(len(u)), strings.Join(names, ", "))
}

func costOf(nodes int) string {
	if nodes == 1 {
		return "1 node costs"
	}
	return counted(nodes, "node") + " cost"
}

// notes returns the notes about these nodes for a document, or nil if each node has a known price.
func (u unpriced) notes() []planNote {
	if len(u) == 0 {
		return nil
	}
	return []planNote{{Code: "UnknownPrice", Message: u.sentence(false)}}
}

// writeUnpriced names the nodes whose price is not known.
func (r textReport) writeUnpriced(w io.Writer) {
	if len(r.unpriced) > 0 {
		r.writeWrapped(w, "", r.unpriced.sentence(r.verbose)+".")
	}
}

// nodeCounts are the numbers of nodes with unknown and with estimated prices, before and after the plan. Each number is left out if it is
// 0.
type nodeCounts struct {
	Unpriced       int `json:"unpriced,omitempty"`
	Estimated      int `json:"estimated,omitempty"`
	UnpricedAfter  int `json:"unpricedAfter,omitempty"`
	EstimatedAfter int `json:"estimatedAfter,omitempty"`
}

func newNodeCounts(before, after nodeCost) nodeCounts {
	return nodeCounts{before.unpriced, before.estimated, after.unpriced, after.estimated}
}
