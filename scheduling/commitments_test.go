package scheduling_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// bill is the arithmetic of a cost model done again, in floating point and the plainest way: what nodes of the types add to
// what the standing ones cost.
type bill struct {
	types    []billedType
	terms    []scheduling.CostTerm
	standing []int // types of the snapshot's nodes, by name
}

type billedType struct {
	name  string
	list  float64
	cpu   int
	holds int // cores for pods
}

// price is a type's price when term number covering covers it wholly, and what it uses of it.
func (b *bill) price(i, covering int) (price, used float64) {
	it := b.types[i]
	price = it.list
	for at, t := range b.terms {
		if rs := t.Where.Requirements; len(rs) > 0 && !slices.Contains(rs[0].Values, it.name) {
			continue
		}
		switch {
		case t.Percent != nil:
			price *= 1 + *t.Percent/100
		case t.PerNode != nil:
			price += *t.PerNode
		case t.PerResource != nil:
			price += t.PerResource[corev1.ResourceCPU] * float64(it.cpu)
		case at == covering:
			switch {
			case t.Commitment.PercentOfPrice > 0:
				used = price * t.Commitment.PercentOfPrice / 100
			case t.Commitment.ByType != nil:
				used = t.Commitment.ByType[it.name]
			default:
				used = 1
			}
			if used > 0 {
				price *= t.Commitment.RemainingPercent / 100
			}
		}
		price = max(price, 0)
	}
	return price, used
}

// cost fills the commitments, standing nodes first, and returns what the new nodes cost.
func (b *bill) cost(nodes []int) float64 {
	type billed struct {
		of   int
		rest float64
	}
	all := make([]billed, 0, len(b.standing)+len(nodes))
	for _, i := range b.standing {
		all = append(all, billed{i, 1})
	}
	sum := 0.0
	for _, i := range nodes {
		plain, _ := b.price(i, -1)
		sum += plain
		all = append(all, billed{i, 1})
	}
	for at, t := range b.terms {
		if t.Commitment == nil {
			continue
		}
		left := t.Commitment.Amount
		for _, list := range [2][]billed{all[:len(b.standing)], all[len(b.standing):]} {
			order := make([]int, len(list))
			for i := range order {
				order[i] = i
			}
			yield := func(i int) float64 {
				plain, _ := b.price(list[i].of, -1)
				price, used := b.price(list[i].of, at)
				if used == 0 {
					return 0
				}
				return (plain - price) / used
			}
			slices.SortStableFunc(order, func(x, y int) int {
				a, c := b.types[list[x].of], b.types[list[y].of]
				aplain, _ := b.price(list[x].of, -1)
				cplain, _ := b.price(list[y].of, -1)
				return cmp.Or(compareRounded(yield(y), yield(x)), compareRounded(list[y].rest, list[x].rest), compareRounded(cplain, aplain), cmp.Compare(a.name, c.name))
			})
			for _, i := range order {
				plain, _ := b.price(list[i].of, -1)
				price, used := b.price(list[i].of, at)
				if used == 0 || price >= plain {
					continue
				}
				covered := min(list[i].rest, left/used)
				list[i].rest -= covered
				left -= covered * used
				if &list[0] != &all[0] || len(b.standing) == 0 {
					sum -= covered * (plain - price)
				}
			}
		}
	}
	return sum
}

// cheapest looks at every way to split pods, by their cores, into nodes, and at every type for each.
func (b *bill) cheapest(pods []int) float64 {
	best := math.Inf(1)
	var loads []int
	var types func(i int, chosen []int)
	types = func(i int, chosen []int) {
		if i == len(loads) {
			best = min(best, b.cost(chosen))
			return
		}
		for at, it := range b.types {
			if it.holds >= loads[i] {
				types(i+1, append(chosen[:i:i], at))
			}
		}
	}
	var split func(i int)
	split = func(i int) {
		if i == len(pods) {
			types(0, nil)
			return
		}
		for at := range loads {
			loads[at] += pods[i]
			split(i + 1)
			loads[at] -= pods[i]
		}
		loads = append(loads, pods[i])
		split(i + 1)
		loads = loads[:len(loads)-1]
	}
	split(0)
	return best
}

// compareRounded compares numbers that are not the same but for rounding.
func compareRounded(a, b float64) int {
	if math.Abs(a-b) < 1e-7 {
		return 0
	}
	return cmp.Compare(a, b)
}

// randomTerms are up to four terms over the types.
func randomTerms(t *rapid.T, types []billedType) []scheduling.CostTerm {
	var terms []scheduling.CostTerm
	for i := range number(t, 1, 4) {
		term := scheduling.CostTerm{Name: fmt.Sprintf("term %d", i), Source: "drawn"}
		if chance(t, 2) {
			var names []string
			for range number(t, 1, 2) {
				names = append(names, oneOf(t, types...).name)
			}
			term.Where.Requirements = []corev1.NodeSelectorRequirement{in(typeKey, names...)}
		}
		x := float64(number(t, 1, 12))
		switch number(t, 0, 7) {
		case 0:
			term.Percent = percent(-x * 5)
		case 1:
			term.PerNode = percent(x / 100)
		case 2:
			term.PerResource = map[corev1.ResourceName]float64{corev1.ResourceCPU: x / 1000}
		case 3, 4:
			term.Commitment = &scheduling.Commitment{Amount: float64(number(t, 1, 3)), RemainingPercent: oneOf(t, 0, 0, 30.0)}
		case 5, 6:
			term.Commitment = &scheduling.Commitment{Amount: x / 20, PercentOfPrice: 70}
		default:
			term.Commitment = &scheduling.Commitment{Amount: x, ByType: map[string]float64{types[0].name: 1, types[len(types)-1].name: 2.5}}
		}
		terms = append(terms, term)
	}
	return terms
}

// The bound never exceeds what the cheapest of all plans costs under the commitments, nor does that exceed the plan; and
// what a plan says it costs is what the bill says.
func TestCommitmentsAgainstExhaustiveSearch(t *testing.T) {
	worst, plans, optimal := 1.0, 0, 0
	seeded.Check(t, func(t *rapid.T) {
		b := &bill{}
		var types []*cloudprovider.InstanceType
		for i := range number(t, 1, 3) {
			cpu := oneOf(t, 1, 2, 4, 8)
			it := billedType{name: fmt.Sprintf("t%d", i), list: float64(number(t, 5, 40)*cpu) / 100, cpu: cpu, holds: cpu}
			b.types = append(b.types, it)
			types = append(types, sold(typeOf(it.name, 0, fmt.Sprintf("cpu=%d", cpu), "memory=256Gi"), offering("a", v1.CapacityTypeOnDemand, it.list)))
		}
		b.terms = randomTerms(t, b.types)
		var list []*corev1.Pod
		var cores []int
		for i := range number(t, 1, 5) {
			n := number(t, 1, 4)
			cores = append(cores, n)
			list = append(list, pod(fmt.Sprintf("p%d", i), requests(fmt.Sprintf("cpu=%d", n))))
		}
		s := cluster(types, list)
		s.CostModel = &scheduling.CostModel{Terms: b.terms}
		for i := range number(t, 0, 2) {
			at := number(t, 0, len(b.types)-1)
			b.standing = append(b.standing, at)
			s.Nodes = append(s.Nodes, node(fmt.Sprintf("n%d", i), allocatable("cpu=100m", "memory=1Gi"), nodeLabel(typeKey, b.types[at].name), nodeLabel(zoneKey, "a"), nodeLabel(capacityKey, v1.CapacityTypeOnDemand)))
		}
		p := solved(t, s)
		want := b.cheapest(cores)
		if math.IsInf(want, 1) {
			if len(p.Unschedulable) == 0 {
				t.Fatalf("some pod fits no type, but all are placed")
			}
			return
		}
		if len(p.Unschedulable) != 0 {
			t.Fatalf("%d pods have no place", len(p.Unschedulable))
		}
		var nodes []int
		for i := range p.NewNodes {
			nodes = append(nodes, slices.IndexFunc(b.types, func(it billedType) bool { return it.name == p.NewNodes[i].InstanceTypes[0].Name }))
		}
		if got := b.cost(nodes); math.Abs(got-p.HourlyCost) > 1e-6 {
			show(t, s)
			t.Fatalf("the plan says %v, the bill %v", p.HourlyCost, got)
		}
		if p.LowerBound > want+1e-7 || p.HourlyCost < want-1e-7 {
			show(t, s)
			t.Fatalf("bound %v, cheapest plan %v, plan %v: want them in that order", p.LowerBound, want, p.HourlyCost)
		}
		plans++
		if p.HourlyCost < want+1e-7 {
			optimal++
		}
		if want > 0.01 {
			worst = max(worst, p.HourlyCost/want)
		}
	})
	t.Logf("%d of %d plans are as cheap as can be; at worst %.3f of it", optimal, plans, worst)
}

// Plans with commitments, terms, reservations and minValues pass the independent validator, prices and certificates included.
func TestPlansWithCostsAreValid(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		if chance(t, 3) {
			s = randomRuledSnapshot(t)
		}
		s.CostModel = randomCostModel(t)
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		q := scheduling.Query{MinValues: oneOf(t, scheduling.MinValuesStrict, scheduling.MinValuesBestEffort), Reserved: oneOf(t, scheduling.ReservedFallback, scheduling.ReservedStrict)}
		p, err := m.Solve(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if p.LowerBound > p.HourlyCost+1e-9 {
			show(t, s)
			t.Fatalf("bound %v of %v", p.LowerBound, p.HourlyCost)
		}
		if q.Reserved == scheduling.ReservedStrict {
			return // the validator knows of no pods that wait for a reservation
		}
		for i, fault := range planvalidator.Check(s, p) {
			if i == 0 {
				show(t, s)
			}
			t.Errorf("%v", fault)
		}
	})
}
