package oracle

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// maxOptions bounds how many different machines one planned machine is tried as, and so the number of replays of a
// plan. Types come before zones, zones before capacity types.
const maxOptions = 16

// Choice settles what the provider may decide: what each planned machine is created as.
type Choice struct {
	// Options are parallel to Plan.NewNodes.
	Options []Option
	// Label counts through the values of labels that neither type nor offering settles: each machine gets the
	// Label-th value that its requirements leave, counted round.
	Label int
}

// Option is one way to create a planned machine.
type Option struct {
	// Type and Offering are the snapshot's own and must not be changed.
	Type     *cloudprovider.InstanceType
	Offering *cloudprovider.Offering
}

// String is "type/zone/capacity type".
func (o Option) String() string {
	if o.Type == nil {
		return ""
	}
	return cloudprovider.KeyOf(o.Type, o.Offering).String()
}

// Choices are the replays a plan has to stand: first every machine as what the plan reckons with, then as many as it
// takes until each machine was every one of its minimal types (those of its remaining types with no more room in any
// resource than another one has) and its cheapest in every zone and capacity type left open. Machines are turned
// through their options at different positions, so that equal machines land in different zones.
//
// An error says that the plan promises a type that can't be bought under the machine's requirements.
func Choices(snapshot *scheduling.Snapshot, plan *scheduling.Plan) ([]Choice, error) {
	options := make([][]Option, len(plan.NewNodes))
	most := 1
	for i := range plan.NewNodes {
		var err error
		if options[i], err = optionsOf(snapshot, &plan.NewNodes[i]); err != nil {
			return nil, err
		}
		most = max(most, len(options[i]))
	}
	first := Choice{Options: make([]Option, len(options))}
	for i := range options {
		first.Options[i] = options[i][0]
	}
	out := []Choice{first}
	for k := 1; k < most+1 && most > 1; k++ {
		choice := Choice{Options: make([]Option, len(options)), Label: k}
		for i := range options {
			choice.Options[i] = options[i][(k+i)%len(options[i])]
		}
		out = append(out, choice)
	}
	return out, nil
}

// optionsOf lists what a machine may be created as; the first is what the plan reckons with.
func optionsOf(snapshot *scheduling.Snapshot, node *scheduling.NewNode) ([]Option, error) {
	if len(node.InstanceTypes) == 0 {
		return nil, fmt.Errorf("machine %s has no instance types", node.Name)
	}
	pool, catalog, err := poolOf(snapshot, node)
	if err != nil {
		return nil, err
	}
	type candidate struct {
		options []Option
		room    corev1.ResourceList
	}
	candidates := make([]candidate, len(node.InstanceTypes))
	for i, offered := range node.InstanceTypes {
		at := slices.IndexFunc(catalog, func(t *cloudprovider.InstanceType) bool { return t.Name == offered.Name })
		if at < 0 {
			return nil, fmt.Errorf("machine %s: its pool has no instance type %q", node.Name, offered.Name)
		}
		c := &candidates[i]
		c.options = launchable(catalog[at], node)
		first := slices.IndexFunc(c.options, func(o Option) bool {
			return o.Offering.Zone() == offered.Zone && o.Offering.CapacityType() == offered.CapacityType
		})
		if first < 0 {
			return nil, fmt.Errorf("machine %s: type %s can't be bought in zone %s as %s, as the plan has it, under %s", node.Name, offered.Name, offered.Zone, offered.CapacityType, node.Requirements)
		}
		c.options[0], c.options[first] = c.options[first], c.options[0]
		c.room = roomFor(snapshot, pool, node, c.options[0])
	}
	chosen := []candidate{candidates[0]}
	for i := range candidates {
		smaller := func(j int) bool {
			return i != j && noMore(candidates[j].room, candidates[i].room) && (j < i || !noMore(candidates[i].room, candidates[j].room))
		}
		if i > 0 && !slices.ContainsFunc(indices(len(candidates)), smaller) {
			chosen = append(chosen, candidates[i])
		}
	}
	// Round by round, so that a cut takes the last zones of all types rather than all zones of the last types.
	var out []Option
	for round := 0; len(out) < maxOptions; round++ {
		before := len(out)
		for _, c := range chosen {
			if round < len(c.options) && len(out) < maxOptions {
				out = append(out, c.options[round])
			}
		}
		if len(out) == before {
			break
		}
	}
	return out, nil
}

// launchable are the offerings of the type by which the provider could create the machine: in stock, allowed by the
// requirements, and large enough for the requests of the claim (PRV-170). Different zones come first.
func launchable(t *cloudprovider.InstanceType, node *scheduling.NewNode) []Option {
	var fresh, rest []Option
	zones := map[string]bool{}
	for o := range t.OfferingsWithRoom() {
		if !allowed(o.Requirements, node.Requirements) || !noMore(node.Requests, t.AllocatableOf(o)) {
			continue
		}
		if zones[o.Zone()] {
			rest = append(rest, Option{t, o})
		} else {
			fresh = append(fresh, Option{t, o})
		}
		zones[o.Zone()] = true
	}
	return append(fresh, rest...)
}

// allowed reports whether every label an offering states is among what the machine's requirements leave.
func allowed(offering, machine requirements.Set) bool {
	for r := range offering.All {
		if !machine.Has(r.Key()) {
			continue
		}
		want := machine.Get(r.Key())
		if value, ok := only(r); ok && !want.Has(value) {
			return false
		} else if !ok && r.Operator() == requirements.OpDoesNotExist && want.Operator() == requirements.OpIn {
			return false
		}
	}
	return true
}

// only is the one value a requirement leaves.
func only(r requirements.Requirement) (string, bool) {
	if values := r.Values(); !r.Complement() && len(values) == 1 {
		return values[0], true
	}
	return "", false
}

// noMore reports whether a is at most b in every resource; one that is not named is zero.
func noMore(a, b corev1.ResourceList) bool {
	for name, quantity := range a {
		if quantity.Cmp(b[name]) > 0 {
			return false
		}
	}
	zero := resource.Quantity{}
	for name, quantity := range b {
		if _, ok := a[name]; !ok && quantity.Cmp(zero) < 0 {
			return false
		}
	}
	return true
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// poolOf finds the machine's pool and the instance types it may launch.
func poolOf(snapshot *scheduling.Snapshot, node *scheduling.NewNode) (*scheduling.NodePool, []*cloudprovider.InstanceType, error) {
	for i := range snapshot.NodePools {
		p := &snapshot.NodePools[i]
		key := p.Key
		if key.Name == "" {
			key.Name = p.Object.Name
		}
		if key.Name == node.Pool.Name && cmp.Or(key.Generation, node.Pool.Generation) == node.Pool.Generation {
			return p, snapshot.Catalogs[p.Catalog], nil
		}
	}
	return nil, nil, fmt.Errorf("machine %s: the snapshot has no pool %s", node.Name, node.Pool)
}
