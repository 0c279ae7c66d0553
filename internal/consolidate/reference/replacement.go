package reference

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Priced is an instance type that a replacement may become.
type Priced struct {
	Option planning.InstanceTypeOption
	// Worst is the largest possible cost of a launch of this type, in nano-USD per hour.
	Worst int64
}

// replacement narrows a planned node to types that certainly cost less than the batch.
func (p *Pass) replacement(m decision.Method, batch []*decision.Candidate, planned *planning.NewNode) (*planning.NewNode, *decision.Block) {
	pool := p.Fleet.Pools[planned.Pool]
	spent := int64(0)
	for _, c := range batch {
		spent += money.NanoUSD(c.Price)
	}
	node := *planned
	admits := planned.Requirements.Get(v1.CapacityTypeLabelKey)
	planOn := planned.InstanceTypes[0].CapacityType
	spotToSpot := admits.Has(v1.CapacityTypeSpot) && planOn != v1.CapacityTypeReserved &&
		!slices.ContainsFunc(batch, func(c *decision.Candidate) bool { return c.CapacityType != v1.CapacityTypeSpot })
	switch {
	case spotToSpot && !p.SpotToSpot:
		return nil, &decision.Block{Code: decision.BlockSpotToSpot}
	case spotToSpot:
		node.Requirements = Only(planned.Requirements, v1.CapacityTypeSpot)
	case planOn == v1.CapacityTypeReserved:
		node.Requirements = Only(planned.Requirements, v1.CapacityTypeReserved)
	}
	list := Cheaper(pool, &node, spent)
	whole := list
	if !spotToSpot && planOn != v1.CapacityTypeReserved && admits.Has(v1.CapacityTypeSpot) && admits.Has(v1.CapacityTypeOnDemand) {
		list = p.restrict(pool, &node, list, spent)
	}
	if len(list) == 0 {
		return nil, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(spent)}
	}
	if m == decision.MethodMultiNode {
		if list = otherTypes(batch, whole, list); len(list) == 0 {
			return nil, &decision.Block{Code: decision.BlockNotCheaper, Price: money.USD(spent)}
		}
	}
	setTypes(pool, &node, list)
	if why := p.Varied(pool, &node); why != nil {
		return nil, why
	}
	if spotToSpot && len(batch) == 1 {
		if len(list) < p.SpotTypes() {
			return nil, &decision.Block{Code: decision.BlockFewTypes, Count: len(list), Need: p.SpotTypes()}
		}
		for n := p.SpotTypes(); ; n++ {
			setTypes(pool, &node, list[:n])
			if n == len(list) || p.Varied(pool, &node) == nil {
				break
			}
		}
	}
	return &node, nil
}

// Only restricts requirements to a capacity type.
func Only(set requirements.Set, capacityType string) requirements.Set {
	return set.With(requirements.In(v1.CapacityTypeLabelKey, capacityType))
}

// restrict restricts a node that could be spot or on demand to spot, because its types were compared at spot prices. So if spot is
// unavailable, the launch fails and does not silently become more expensive. If no cheaper type has a spot offering, restrict restricts the
// node to on demand.
func (p *Pass) restrict(pool *survey.Pool, node *planning.NewNode, list []Priced, spent int64) []Priced {
	whole := node.Requirements
	node.Requirements = Only(whole, v1.CapacityTypeSpot)
	if spot := Cheaper(pool, node, spent); len(spot) > 0 {
		return spot
	}
	if len(list) == 0 {
		return nil
	}
	node.Requirements = Only(whole, v1.CapacityTypeOnDemand)
	return Cheaper(pool, node, spent)
}

// Cheaper returns the types of the node for which every possible launch costs less than the amount of the parameter spent. The cheapest
// types come first. If a cost model changes the price of a type's cheapest offering, it changes the type's highest price in the same way.
func Cheaper(pool *survey.Pool, node *planning.NewNode, spent int64) []Priced {
	var out []Priced
	for _, option := range node.InstanceTypes {
		t := pool.Types[option.Name]
		if t == nil {
			continue
		}
		worst := t.WorstLaunchPrice(node.Requirements)
		if math.IsInf(worst, 1) {
			continue
		}
		correction := int64(0)
		if list, ok := listPrice(t, option.Offering()); ok {
			correction = money.NanoUSD(option.Price) - money.NanoUSD(list)
		}
		if w := money.NanoUSD(worst) + correction; w < spent {
			out = append(out, Priced{reoffered(t, node.Requirements, option, correction), w})
		}
	}
	slices.SortStableFunc(out, func(a, b Priced) int {
		return cmp.Or(cmp.Compare(a.Option.Price, b.Option.Price), cmp.Compare(a.Option.Name, b.Option.Name))
	})
	return out
}

func listPrice(t *cloudprovider.InstanceType, key cloudprovider.OfferingKey) (float64, bool) {
	for i := range t.Offerings {
		if cloudprovider.KeyOf(t, &t.Offerings[i]) == key {
			return t.Offerings[i].Price, true
		}
	}
	return 0, false
}

// reoffered returns the option with the cheapest offering of type t that meets the requirements want. These may be narrower than the
// requirements that the option was planned for. correction is added to the offering's list price.
func reoffered(t *cloudprovider.InstanceType, want requirements.Set, option planning.InstanceTypeOption, correction int64) planning.InstanceTypeOption {
	var best *cloudprovider.Offering
	for o := range t.OfferingsWithRoom() {
		if !t.Offers(o, want) {
			continue
		}
		if key := cloudprovider.KeyOf(t, o); key == option.Offering() {
			return option // the option's offering is the cheapest one that meets the requirements
		}
		if best == nil || o.Price < best.Price {
			best = o
		}
	}
	if best == nil {
		return option
	}
	key := cloudprovider.KeyOf(t, best)
	return planning.InstanceTypeOption{
		Name: option.Name, Zone: key.Zone, CapacityType: key.CapacityType, Others: key.Others,
		Price: money.USD(money.NanoUSD(best.Price) + correction),
	}
}

// otherTypes considers the nodes of the batch whose type is in the list whole, and drops types that cost at least as much as the cheapest
// of these nodes. Instead of launching such a type, the command could keep that node and remove only the other nodes. This costs no more
// and evicts fewer pods. The list whole has the types before the restriction to one capacity type. An existing node need not be launched,
// so its capacity type does not matter.
func otherTypes(batch []*decision.Candidate, whole, list []Priced) []Priced {
	least := int64(math.MaxInt64)
	for _, c := range batch {
		if slices.ContainsFunc(whole, func(x Priced) bool { return x.Option.Name == c.InstanceType.Name }) {
			least = min(least, money.NanoUSD(c.Price))
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(x Priced) bool { return x.Worst >= least })
}

// setTypes sets the node's types, and sets its Allocatable to the Allocatable of the first type.
func setTypes(pool *survey.Pool, node *planning.NewNode, list []Priced) {
	node.InstanceTypes = make([]planning.InstanceTypeOption, len(list))
	for i := range list {
		node.InstanceTypes[i] = list[i].Option
	}
	if has := AllocatableOf(pool, &list[0].Option); has != nil {
		node.Allocatable = has
	}
}

// AllocatableOf returns the allocatable resources of a node with this option, or nil if the type does not have the offering.
func AllocatableOf(pool *survey.Pool, option *planning.InstanceTypeOption) (has corev1.ResourceList) {
	t, key := pool.Types[option.Name], option.Offering()
	for i := range t.Offerings {
		if cloudprovider.KeyOf(t, &t.Offerings[i]) == key {
			has = t.AllocatableOf(&t.Offerings[i])
		}
	}
	return has
}

// Varied returns the block of a node whose types no longer meet the minValues of its pool, or nil if the types meet them. The pool's policy
// for minValues does not matter.
func (p *Pass) Varied(pool *survey.Pool, node *planning.NewNode) *decision.Block {
	for _, r := range pool.Object.Spec.Template.Spec.Requirements {
		if r.MinValues == nil {
			continue
		}
		key := p.Fleet.Lookup.Canonical(r.Key)
		values := map[string]bool{}
		for _, o := range node.InstanceTypes {
			addValues(values, pool.Types[o.Name], key, node.Requirements)
		}
		if len(values) < *r.MinValues {
			return &decision.Block{Code: decision.BlockMinValues, Key: key, Count: len(values), Need: *r.MinValues}
		}
	}
	return nil
}

// addValues adds values of the label key to the set into: the values that nodes of the type can have if they meet the requirements want.
func addValues(into map[string]bool, t *cloudprovider.InstanceType, key string, want requirements.Set) {
	for o := range t.OfferingsWithRoom() {
		if !t.Offers(o, want) {
			continue
		}
		if r := t.MachineRequirements(o).Get(key); !r.Complement() {
			for _, value := range r.Values() {
				if !want.Has(key) || want.Get(key).Has(value) {
					into[value] = true
				}
			}
		}
	}
}
