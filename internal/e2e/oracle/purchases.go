package oracle

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Purchases checks conditions that kube-scheduler never sees. If they are not met, the planned nodes would not be launched, or would not be
// as promised. It checks that the pools may launch nodes, that prices and allocatable amounts are those of the types with NodeOverlays
// applied, that no reservation is used beyond its capacity, and that the instance types meet minValues. It returns one sentence for each
// fault, or nil if there are none.
func Purchases(snapshot *scheduling.Snapshot, plan *scheduling.Plan, query scheduling.Query) []string {
	c := &clerk{stock: newStock(snapshot), query: query, drawn: map[string]int{}, left: map[string]int{}}
	total := 0.0
	for i := range plan.NewNodes {
		c.check(&plan.NewNodes[i])
		if types := plan.NewNodes[i].InstanceTypes; len(types) > 0 {
			total += types[0].Price
		}
	}
	if !same(total, plan.HourlyCost) {
		c.complain("the plan costs %v, its nodes %v", plan.HourlyCost, total)
	}
	for _, id := range slices.Sorted(maps.Keys(c.drawn)) {
		if c.drawn[id] > c.left[id] {
			c.complain("reservation %s has %d instances left, and %d nodes may draw on it", id, c.left[id], c.drawn[id])
		}
	}
	return c.faults
}

type clerk struct {
	stock  *stock
	query  scheduling.Query
	faults []string
	// drawn is the number of planned nodes that may use a reservation. left is its remaining capacity.
	drawn, left map[string]int
}

func (c *clerk) complain(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *clerk) check(node *scheduling.NewNode) {
	pool, catalog, err := c.stock.of(node)
	switch {
	case err != nil:
		c.complain("%v", err)
		return
	case pool.Object.IsStatic(), pool.NotReady != "", pool.Object.DeletionTimestamp != nil:
		c.complain("node %s: pool %s launches no nodes", node.Name, node.Pool)
		return
	}
	c.count(catalog)
	var options []Option
	for i, offered := range node.InstanceTypes {
		promised, err := promisedOption(catalog, node, offered)
		if err != nil {
			c.complain("node %s: type %s in zone %s as %s is promised, but %v", node.Name, offered.Name, offered.Zone, offered.CapacityType, err)
			continue
		}
		if i == 0 {
			c.compare(node, promised)
		}
		options = append(options, launchable(promised, node, nil)...)
	}
	may := map[string]bool{}
	for _, o := range options {
		if o.Offering.Reserved() {
			may[reservationOf(o.Offering)] = true
		}
	}
	for id := range may {
		c.drawn[id]++
	}
	c.variety(pool, node, options)
}

// count records the remaining capacity of each reservation: the smallest number that an available offering of it states.
func (c *clerk) count(catalog []*cloudprovider.InstanceType) {
	for _, t := range catalog {
		for i := range t.Offerings {
			o := &t.Offerings[i]
			if !o.Reserved() || !o.Available {
				continue
			}
			id := reservationOf(o)
			if left, ok := c.left[id]; !ok || o.ReservationCapacity < left {
				c.left[id] = o.ReservationCapacity
			}
		}
	}
}

// reservationOf identifies the reservation by the labels that the offering states in addition to zone and capacity type.
func reservationOf(o *cloudprovider.Offering) string {
	return o.Requirements.Without(corev1.LabelTopologyZone, v1.CapacityTypeLabelKey).String()
}

// compare checks the price and the amounts of the node that the plan assumes for the NodeClaim.
func (c *clerk) compare(node *scheduling.NewNode, promised Option) {
	if price := node.InstanceTypes[0].Price; !same(price, promised.Offering.Price) {
		c.complain("node %s: the plan assumes a price of %v, %s costs %v", node.Name, price, promised, promised.Offering.Price)
	}
	have := promised.Type.AllocatableOf(promised.Offering)
	if name := exceeds(node.Allocatable, have); name != "" {
		c.complain("node %s: the plan assumes more %s than the %s of %s", node.Name, name, text(have, name), promised)
	}
}

func text(list corev1.ResourceList, name corev1.ResourceName) string {
	quantity := list[name]
	return quantity.String()
}

// variety checks minValues. A value counts if a node of the NodeClaim can still get it.
func (c *clerk) variety(pool *scheduling.NodePool, node *scheduling.NewNode, options []Option) {
	relaxed := false
	for _, r := range pool.Object.Spec.Template.Spec.Requirements {
		if r.MinValues == nil {
			continue
		}
		values := map[string]bool{}
		for _, o := range options {
			for _, value := range valuesOf(o, node, r.Key) {
				values[value] = true
			}
		}
		if len(values) >= *r.MinValues {
			continue
		}
		relaxed = true
		if c.query.MinValues != scheduling.MinValuesBestEffort {
			c.complain("node %s: minValues of pool %s asks for %d values of %s, the claim leaves %v", node.Name, node.Pool, *r.MinValues, r.Key, slices.Sorted(maps.Keys(values)))
		}
	}
	if relaxed != node.MinValuesRelaxed && c.query.MinValues == scheduling.MinValuesBestEffort {
		c.complain("node %s: minValuesRelaxed is %v", node.Name, node.MinValuesRelaxed)
	}
}

// valuesOf returns the values of the label that the node may get.
func valuesOf(o Option, node *scheduling.NewNode, key string) []string {
	if key == corev1.LabelInstanceTypeStable {
		return []string{o.Type.Name}
	}
	r := stated(o).Get(key)
	if node.Requirements.Has(key) {
		r = r.Intersect(node.Requirements.Get(key))
	}
	return r.Values()
}

// stated returns the labels that the type and the offering state for a node of the option.
func stated(o Option) requirements.Set { return o.Type.MachineRequirements(o.Offering) }

// same reports whether two prices are equal, up to a small difference: the planner rounds prices to a billionth of a USD.
func same(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
