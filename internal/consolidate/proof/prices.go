// Package proof answers one question: why can't it pay to remove a node, if all other nodes stay as they are?
//
// The input is the snapshot's pools and nodes, the compiled model, and the nodes that could be removed, with the pods that would have to
// move. The output is a decision.Proof, which a reader can check with a few multiplications. The proof shows that some pods find no room on
// other nodes and need new nodes, and that any such new nodes cost too much. Some nodes have no such proof.
//
// The proof is weak duality of linear programming (for example Vanderbei, Linear Programming, chapter 5). It uses prices of resources at
// which no available node is worth more than it costs. Such prices give a lower bound on the cost of any new nodes. The best prices are the
// duals of a linear program, which covers the pods' requests with nodes at the lowest cost. Package internal/engine/lp solves it. Rounding
// can't make a proof invalid, because prices are scaled down until they are valid. Prices for one demand take a few pivots (steps of the
// simplex method), each of which visits all kinds of nodes that may be launched. Prices are computed for a few demands, once for each set
// of nodes that pods may use. After that, a proof takes one multiplication for each pod of a node and each price.
package proof

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Node is a node that could be removed. Price is in nano-USD per hour, or 0 if unknown. Moving has the pods that would have to move. Stays
// has the pods that need not move.
type Node struct {
	Name   string
	Pool   v1.PoolKey
	Price  int64
	Moving []*corev1.Pod
	Stays  map[*corev1.Pod]bool
}

// Prover searches for proofs. It caches results for pods, so it must not be used concurrently.
type Prover struct {
	// list has the prices that proofs refer to by their index.
	list []decision.FloorPrices
	// directions are the demands (amounts of resources) for which pricesFor computes optimal prices.
	directions []corev1.ResourceList
	// launchables says which new nodes may be launched for a pod. scopes caches the result of pricesFor for each set of groups of such
	// nodes.
	launchables *valuing.Launchables
	scopes      map[string][]decision.FloorPrices
	// first has, for each resource, the node with the largest free amount of it. second has the node with the second largest free amount.
	first, second map[corev1.ResourceName]roomiest
}

type roomiest struct {
	node string
	free int64
}

// NewProver computes the data that all proofs share. It returns nil if the cost of a node does not depend only on its type, because of the
// cost model of the snapshot.
func NewProver(snapshot *planning.Snapshot, m *model.Model, nodes []Node) *Prover {
	if snapshot.CostModel != nil || len(nodes) == 0 {
		return nil
	}
	out := &Prover{
		launchables: valuing.FindLaunchables(m), scopes: map[string][]decision.FloorPrices{},
		first: map[corev1.ResourceName]roomiest{}, second: map[corev1.ResourceName]roomiest{},
	}
	byPool := map[v1.PoolKey][]Node{}
	for i := range nodes {
		byPool[nodes[i].Pool] = append(byPool[nodes[i].Pool], nodes[i])
	}
	mean := corev1.ResourceList{}
	out.directions = []corev1.ResourceList{mean}
	for i := range snapshot.NodePools {
		list := byPool[snapshot.NodePools[i].Identity()]
		requests := requestedBy(m, list)
		addAmounts(mean, requests)
		if len(requests) > 0 && len(out.directions) < maxDirections {
			out.directions = append(out.directions, requests)
		}
	}
	for _, name := range floorResources {
		out.directions = append(out.directions, corev1.ResourceList{name: mean[name]})
		room := m.Roomiest(name)
		out.first[name], out.second[name] = roomiest{room[0].Node, room[0].Free.MilliValue()}, roomiest{room[1].Node, room[1].Free.MilliValue()}
	}
	return out
}

// requestedBy returns the sum of the requests of the nodes' moving pods. It is empty if no pod moves.
func requestedBy(m *model.Model, nodes []Node) corev1.ResourceList {
	names := make([]string, len(nodes))
	for i := range nodes {
		names[i] = nodes[i].Name
	}
	return m.RequestedTogether(names, func(at int, pod *corev1.Pod) bool { return !nodes[at].Stays[pod] })
}

const (
	// maxDirections limits the length of Prover.directions, not counting demands for a single resource.
	maxDirections = 8
	// maxScopes limits the number of entries in Prover.scopes.
	maxScopes = 64
)

func samePrices(a, b decision.FloorPrices) bool {
	for _, name := range floorResources {
		if a[name] != b[name] {
			return false
		}
	}
	return true
}

// requestsOf returns the requests of a pod, plus 1 of the resource "pods".
func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	out := resources.OfPod(pod)
	out[corev1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return out
}

func addAmounts(into, amounts corev1.ResourceList) {
	for name, q := range amounts {
		sum := into[name]
		sum.Add(q)
		into[name] = sum
	}
}

// pricesFor returns sets of resource prices for pods that may use these groups of new nodes. Each set is optimal for one of the demands in
// p.directions.
func (p *Prover) pricesFor(groups []int) []decision.FloorPrices {
	slices.Sort(groups)
	groups = slices.Compact(groups)
	text := fmt.Sprint(groups)
	if prices, known := p.scopes[text]; known || len(p.scopes) >= maxScopes {
		return prices
	}
	offers := p.offered(groups)
	var prices []decision.FloorPrices
	for _, d := range p.directions {
		if y := bestPrices(offers, d); y != nil && !slices.ContainsFunc(prices, func(have decision.FloorPrices) bool { return samePrices(have, y) }) {
			prices = append(prices, y)
		}
	}
	p.scopes[text] = prices
	return prices
}

// offered returns the new nodes of the groups, each with its room and price. Of nodes with equal room, it returns only the cheapest.
func (p *Prover) offered(groups []int) []offered {
	var out []offered
	at := map[[3]float64]int{}
	for _, kind := range p.launchables.Kinds(groups...) {
		m := offered{floorAmounts(kind.Room), kind.Price}
		i, known := at[m.amounts]
		switch {
		case !known:
			at[m.amounts] = len(out)
			out = append(out, m)
		case m.price < out[i].price:
			out[i].price = m.price
		}
	}
	return out
}

// number returns the index of the prices y in p.list. If the list does not have these prices yet, number adds them.
func (p *Prover) number(y decision.FloorPrices) int {
	i := slices.IndexFunc(p.list, func(have decision.FloorPrices) bool { return samePrices(have, y) })
	if i < 0 {
		i, p.list = len(p.list), append(p.list, y)
	}
	return i
}

// Prove looks for a proof that removing the node alone saves less than required, in nano-USD per hour. It returns nil if it finds no proof.
// It also returns nil if a pod needs a new node but no new node is possible, because then the node stays for another reason than its cost.
func (p *Prover) Prove(n *Node, required int64) *decision.Proof {
	if p == nil || n.Price == 0 {
		return nil
	}
	out := &decision.Proof{Demand: corev1.ResourceList{}}
	var groups []int
	for _, pod := range n.Moving {
		requests := requestsOf(pod)
		for _, name := range floorResources {
			most := p.first[name]
			if most.node == n.Name {
				most = p.second[name]
			}
			need := requests[name]
			if need.MilliValue() <= max(most.free, 0) {
				continue
			}
			group, cheapest, ok := p.launchables.Of(n.Name, planning.PodKey{Namespace: pod.Namespace, Name: pod.Name})
			if !ok {
				return nil
			}
			free := need.DeepCopy()
			free.SetMilli(max(most.free, 0))
			out.Homeless = append(out.Homeless, decision.HomelessPod{Pod: planning.PodKey{Namespace: pod.Namespace, Name: pod.Name}, Resource: name, Need: need.String(), Most: free.String(), Cheapest: cheapest})
			groups = append(groups, group)
			out.Floor = max(out.Floor, cheapest)
			addAmounts(out.Demand, requests)
			break
		}
	}
	if len(out.Homeless) == 0 {
		return nil
	}
	best, most := decision.FloorPrices{}, 0.0
	for _, y := range p.pricesFor(groups) {
		if worth := y.Worth(out.Demand); worth > most {
			best, most = y, worth
		}
	}
	out.Floor = max(out.Floor, most)
	if n.Price-money.NanoUSD(out.Floor) >= max(required, 1) {
		return nil
	}
	out.Prices = p.number(best)
	return out
}

// floorResources are the resources with prices, in the order in which decision.FloorPrices adds them up.
var floorResources = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods}

// Prices returns the prices that proofs refer to by their index.
func (p *Prover) Prices() []decision.FloorPrices { return p.list }
