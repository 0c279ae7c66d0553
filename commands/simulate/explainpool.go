package simulate

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/rulecosts"
)

// poolExplanation is the output of explain nodepool.
type poolExplanation struct {
	typeMeta
	NodePool string `json:"nodePool"`
	// Pods is the number of pods that the plan puts on new nodes of the pool.
	Pods int `json:"pods"`
	// Now are the present nodes of the pool. Planned are the nodes that the pool would get if all its nodes were removed and their pods
	// were planned again.
	Now     fleetDocument `json:"now"`
	Planned fleetDocument `json:"planned"`
	ruleCosts
	Notes []planNote `json:"notes"`
}

// fleetDocument counts nodes by kind.
type fleetDocument struct {
	Nodes int `json:"nodes"`
	// HourlyCost is the sum of the known prices, in USD per hour.
	HourlyCost float64        `json:"hourlyCost"`
	Kinds      []kindDocument `json:"kinds"`
}

// kindDocument is the number of nodes of one kind, and their price.
type kindDocument struct {
	InstanceType string `json:"instanceType"`
	CapacityType string `json:"capacityType"`
	Nodes        int    `json:"nodes"`
	// HourlyCost is the price of all nodes of this kind, in USD per hour.
	HourlyCost float64 `json:"hourlyCost"`
}

// add adds one node to the counts.
func (f *fleetDocument) add(instanceType, capacityType string, price float64) {
	f.Nodes++
	f.HourlyCost += price
	i := slices.IndexFunc(f.Kinds, func(k kindDocument) bool { return k.InstanceType == instanceType && k.CapacityType == capacityType })
	if i < 0 {
		i = len(f.Kinds)
		f.Kinds = append(f.Kinds, kindDocument{InstanceType: instanceType, CapacityType: capacityType})
	}
	f.Kinds[i].Nodes++
	f.Kinds[i].HourlyCost += price
}

// finish rounds the sums, and sorts the kinds by descending cost.
func (f *fleetDocument) finish() {
	if f.Kinds == nil {
		f.Kinds = []kindDocument{}
	}
	f.HourlyCost = roundDollars(f.HourlyCost)
	for i := range f.Kinds {
		f.Kinds[i].HourlyCost = roundDollars(f.Kinds[i].HourlyCost)
	}
	slices.SortFunc(f.Kinds, func(a, b kindDocument) int {
		return cmp.Or(cmp.Compare(b.HourlyCost, a.HourlyCost), strings.Compare(a.InstanceType, b.InstanceType), strings.Compare(a.CapacityType, b.CapacityType))
	})
}

// explainPool explains a NodePool.
func (s *simulation) explainPool(ctx context.Context, snapshot *scheduling.Snapshot) (explanation, error) {
	key, err := s.findPool(snapshot)
	if err != nil {
		return nil, err
	}
	d := &poolExplanation{typeMeta: typeOf(kindPoolExplanation), NodePool: key.String()}
	prices, err := s.nodePricesOf(snapshot)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for i := range snapshot.Nodes {
		n := &snapshot.Nodes[i]
		if n.Pool != key || n.Leaving {
			continue
		}
		gone[n.Name] = true
		p := prices[n.Name]
		d.Now.add(cmp.Or(p.offering.InstanceType, "of unknown price"), p.offering.CapacityType, p.price)
	}
	base, err := s.base(ctx, withoutNodes(snapshot, gone))
	if err != nil {
		return nil, err
	}
	for i := range base.Plan.NewNodes {
		if n := &base.Plan.NewNodes[i]; n.Pool == key {
			kind := kindOf(n)
			d.Planned.add(kind.instanceType, kind.capacityType, kind.price)
			d.Pods += len(n.Pods)
		}
	}
	d.Now.finish()
	d.Planned.finish()
	report, err := base.Without(ctx, rulecosts.OfPool(base.Snapshot, key))
	if err != nil {
		return nil, err
	}
	d.ruleCosts = newRuleCosts(report, nil)
	d.Notes = append([]planNote{}, s.notes()...)
	return d, nil
}

// findPool returns the key of the pool with the name that the user gave.
func (s *simulation) findPool(snapshot *scheduling.Snapshot) (v1.PoolKey, error) {
	var names []string
	for i := range snapshot.NodePools {
		key := snapshot.NodePools[i].Identity()
		if key.Name == s.explain.name || key.String() == s.explain.name {
			return key, nil
		}
		names = append(names, key.String())
	}
	slices.Sort(names)
	return v1.PoolKey{}, fmt.Errorf("the input has no NodePool %s, only %s", s.explain.name, strings.Join(names, ", "))
}

func (d *poolExplanation) status() int { return exitPlaced }

func (d *poolExplanation) write(w io.Writer, c canvas) {
	fmt.Fprintf(w, "%s has %s%s. Planned again, its pods and those that wait get %s%s of it.\n", c.paint(bold, "NodePool "+d.NodePool),
		counted(d.Now.Nodes, "node"), d.Now.at(), counted(d.Planned.Nodes, "node"), d.Planned.at())
	d.Now.write(w, c, "NODES NOW")
	d.Planned.write(w, c, "NODES PLANNED")
	d.ruleCosts.write(w, c)
}

// The method at returns a text with the cost of the nodes, or "" if there are no nodes.
func (f fleetDocument) at() string {
	if f.Nodes == 0 {
		return ""
	}
	return fmt.Sprintf(" at %s/h (%s a month)", dollars(f.HourlyCost), monthly(f.HourlyCost))
}

func (f fleetDocument) write(w io.Writer, c canvas, title string) {
	if f.Nodes == 0 {
		return
	}
	t := table{columns: []column{{title: title, right: true}, {title: "INSTANCE TYPE"}, {title: "CAPACITY"}, {title: "$/H", right: true}}}
	for _, k := range f.Kinds {
		t.rows = append(t.rows, row{cells: []string{number(k.Nodes), k.InstanceType, k.CapacityType, strings.TrimPrefix(dollars(k.HourlyCost), "$")}})
	}
	fmt.Fprintln(w)
	t.write(w, c)
}
