package disruption

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// FloorPrices are prices of resources, USD per hour for each core, byte and pod, such that no machine that is to be had
// costs less than what it has to offer is worth by them. New nodes for any pods then cost at least what these ask for is
// worth: weak duality of linear programming.
type FloorPrices map[corev1.ResourceName]float64

// Worth of amounts at the prices, USD per hour.
func (y FloorPrices) Worth(amounts corev1.ResourceList) float64 {
	sum := 0.0
	for _, name := range floorResources {
		if q, ok := amounts[name]; ok {
			sum += y[name] * q.AsApproximateFloat64()
		}
	}
	return sum
}

// Proof shows by a few multiplications that removing a node, all others left as they are, can't be worth it: pods of it
// that no other node has room for need new nodes, and those cost too much.
type Proof struct {
	// Homeless are the pods, and what each of them asks for more of than any other node has free.
	Homeless []HomelessPod `json:"homeless"`
	// Demand is what they ask for together.
	Demand corev1.ResourceList `json:"demand"`
	// Prices numbers Plan.FloorPrices; Floor is what new nodes for the demand cost at least, USD per hour: what it is worth at
	// those prices, or the Cheapest of one of the pods if that is more.
	Prices int     `json:"prices"`
	Floor  float64 `json:"floor"`
}

// HomelessPod is a pod that no node but its own has room for: it asks for Need of the resource, and no other node has more
// than Most of it free.
type HomelessPod struct {
	Pod      scheduling.PodKey   `json:"pod"`
	Resource corev1.ResourceName `json:"resource"`
	Need     string              `json:"need"`
	Most     string              `json:"most"`
	// Cheapest is the price of the cheapest machine that would hold the pod, USD per hour.
	Cheapest float64 `json:"cheapest"`
}

// floorResources are those that prices are found for. Others have none, which is a price too.
var floorResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}

// floorPrices are a few FloorPrices, each the best for what some pods ask for, and what nodes have free.
type floorPrices struct {
	list     []FloorPrices
	machines []offered
	// first and second are the nodes with most free of a resource.
	first, second map[corev1.ResourceName]roomiest
}

type roomiest struct {
	node string
	free int64
}

// newFloorPrices finds them; nil where the snapshot's cost model makes what machines cost depend on more than their type.
func newFloorPrices(f *Fleet, model *scheduling.Model, units []*unit) *floorPrices {
	snapshot := f.in.View.Snapshot
	if snapshot.CostModel != nil || len(units) == 0 {
		return nil
	}
	out := &floorPrices{first: map[corev1.ResourceName]roomiest{}, second: map[corev1.ResourceName]roomiest{}}
	machines := machinesOf(f)
	out.machines = machines
	mean := corev1.ResourceList{}
	byPool := map[v1.PoolKey]corev1.ResourceList{}
	for _, u := range units {
		if len(u.moving) == 0 {
			continue
		}
		requests := model.Requested(u.Name, u.moves)
		addAmounts(mean, requests)
		if byPool[u.Pool.Key] == nil {
			byPool[u.Pool.Key] = corev1.ResourceList{}
		}
		addAmounts(byPool[u.Pool.Key], requests)
	}
	directions := []corev1.ResourceList{mean}
	for i := range snapshot.NodePools {
		if d := byPool[snapshot.NodePools[i].Identity()]; d != nil && len(directions) < maxDirections {
			directions = append(directions, d)
		}
	}
	for _, name := range floorResources {
		directions = append(directions, corev1.ResourceList{name: mean[name]})
	}
	for _, d := range directions {
		if y := bestPrices(machines, d); y != nil && !slices.ContainsFunc(out.list, func(have FloorPrices) bool { return samePrices(have, y) }) {
			out.list = append(out.list, y)
		}
	}
	for i := range snapshot.Nodes {
		node := snapshot.Nodes[i].Name
		free, _ := model.Free(node)
		for name, q := range free {
			r := roomiest{node, q.MilliValue()}
			switch {
			case out.first[name].node == "" || r.free > out.first[name].free:
				out.first[name], out.second[name] = r, out.first[name]
			case out.second[name].node == "" || r.free > out.second[name].free:
				out.second[name] = r
			}
		}
	}
	return out
}

// maxDirections bounds how many demands prices are made for, single resources aside.
const maxDirections = 8

func samePrices(a, b FloorPrices) bool {
	for _, name := range floorResources {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// requestsOf are what a pod asks for, itself included.
func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	out := scheduling.PodRequests(pod)
	out[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return out
}

func sortedNames[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

func addAmounts(into, amounts corev1.ResourceList) {
	for name, q := range amounts {
		sum := into[name]
		sum.Add(q)
		into[name] = sum
	}
}

// offered is a machine that is to be had: what it offers of the floorResources, and its price.
type offered struct {
	amounts [3]float64
	price   float64
}

func floorAmounts(list corev1.ResourceList) (amounts [3]float64) {
	for d, name := range floorResources {
		q := list[name]
		amounts[d] = q.AsApproximateFloat64()
	}
	return amounts
}

// machinesOf are all of them, of all pools, each kind of a type at its cheapest.
func machinesOf(f *Fleet) []offered {
	var out []offered
	seen := map[offered]bool{}
	for i := range f.in.View.Snapshot.NodePools {
		p := f.pools[f.in.View.Snapshot.NodePools[i].Identity()]
		for _, name := range sortedNames(p.types) {
			t := p.types[name]
			var ofType *[3]float64 // the same for most offerings, and reckoning takes time
			for o := range t.OfferingsWithRoom() {
				m := offered{price: o.Price}
				switch {
				case o.OverridesResources():
					m.amounts = floorAmounts(t.AllocatableOf(o))
				case ofType == nil:
					m.amounts = floorAmounts(t.Allocatable())
					ofType = &m.amounts
				default:
					m.amounts = *ofType
				}
				if !seen[m] {
					seen[m] = true
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// bestPrices are the floor prices by which the demand is worth most, by the simplex method on the few resources there are;
// rounding can't make them wrong, since they are scaled until they hold. Nil if there are none.
func bestPrices(machines []offered, demand corev1.ResourceList) FloorPrices {
	const n = 3
	var scale, goal [n]float64
	for d, name := range floorResources {
		q := demand[name]
		goal[d] = q.AsApproximateFloat64()
		for i := range machines {
			scale[d] = max(scale[d], machines[i].amounts[d])
		}
	}
	// Rows are machines, columns the resources or, once exchanged, slacks.
	type row struct {
		a [n]float64
		b float64
	}
	rows := make([]row, len(machines))
	basic := make([]int, len(machines)) // the resource whose price the row gives, or -1
	column := [n]int{}                  // the resource of a column, or -1 for a slack
	for d := range n {
		column[d] = d
		if scale[d] == 0 {
			return nil
		}
		goal[d] *= scale[d]
	}
	for i := range machines {
		rows[i].b, basic[i] = machines[i].price, -1
		for d := range n {
			rows[i].a[d] = machines[i].amounts[d] / scale[d]
		}
	}
	for range maxPivots {
		enter, leave := -1, -1
		for d := range n {
			if goal[d] > 1e-12 && (enter < 0 || goal[d] > goal[enter]) {
				enter = d
			}
		}
		if enter < 0 {
			break
		}
		for i := range rows {
			if rows[i].a[enter] > 1e-12 && (leave < 0 || rows[i].b*rows[leave].a[enter] < rows[leave].b*rows[i].a[enter]) {
				leave = i
			}
		}
		if leave < 0 {
			return nil
		}
		pivot := rows[leave].a[enter]
		own := rows[leave]
		for d := range n {
			own.a[d] /= pivot
		}
		own.b /= pivot
		own.a[enter] = 1 / pivot
		for i := range rows {
			if k := rows[i].a[enter]; i != leave && k != 0 {
				for d := range n {
					rows[i].a[d] -= k * own.a[d]
				}
				rows[i].b -= k * own.b
				rows[i].a[enter] = -k / pivot
			}
		}
		k := goal[enter]
		for d := range n {
			goal[d] -= k * own.a[d]
		}
		goal[enter] = -k / pivot
		rows[leave] = own
		basic[leave], column[enter] = column[enter], basic[leave]
	}
	y := FloorPrices{}
	for i, d := range basic {
		if d >= 0 {
			y[floorResources[d]] = max(rows[i].b, 0) / scale[d]
		}
	}
	return y.held(machines)
}

// maxPivots bounds the simplex method.
const maxPivots = 50

// held scales prices down until no machine costs less than it is worth.
func (y FloorPrices) held(machines []offered) FloorPrices {
	worst := 1.0
	for i := range machines {
		worth := 0.0
		for d, name := range floorResources {
			worth += y[name] * machines[i].amounts[d]
		}
		if worth > 0 && machines[i].price <= 0 {
			return nil
		}
		if worth > 0 {
			worst = max(worst, worth/machines[i].price)
		}
	}
	for name := range y {
		y[name] = y[name] / worst * (1 - 1e-12)
	}
	return y
}

// cheapest is the price of the cheapest machine that offers what is asked for, as far as the floorResources go; 0 for none.
func (p *floorPrices) cheapest(requests corev1.ResourceList) float64 {
	need := floorAmounts(requests)
	best := 0.0
	for i := range p.machines {
		m := &p.machines[i]
		if m.amounts[0] >= need[0] && m.amounts[1] >= need[1] && m.amounts[2] >= need[2] && (best == 0 || m.price < best) {
			best = m.price
		}
	}
	return best
}

// prove looks for a proof that removing the unit alone saves less than required, nano-USD per hour; nil if there is none.
func (p *floorPrices) prove(u *unit, required int64) *Proof {
	if p == nil || len(p.list) == 0 || u.price == 0 {
		return nil
	}
	out, single := &Proof{Demand: corev1.ResourceList{}}, 0.0
	for _, pod := range u.moving {
		requests := requestsOf(pod)
		for _, name := range floorResources {
			most := p.first[name]
			if most.node == u.Name {
				most = p.second[name]
			}
			need := requests[name]
			if need.MilliValue() <= max(most.free, 0) {
				continue
			}
			free := need.DeepCopy()
			free.SetMilli(max(most.free, 0))
			h := HomelessPod{keyOf(pod), name, need.String(), free.String(), p.cheapest(requests)}
			out.Homeless = append(out.Homeless, h)
			single = max(single, h.Cheapest)
			addAmounts(out.Demand, requests)
			break
		}
	}
	for i, y := range p.list {
		if worth := y.Worth(out.Demand); worth > out.Floor {
			out.Prices, out.Floor = i, worth
		}
	}
	out.Floor = max(out.Floor, single)
	if len(out.Homeless) == 0 || u.price-nanoUSD(out.Floor) >= max(required, 1) {
		return nil
	}
	return out
}
