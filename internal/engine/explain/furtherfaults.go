package explain

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxAlso limits Reason.Also.
const maxAlso = 4

// If no single change would give the pod a place in a pool, the pod has several faults. explain reports all of these faults, and looks for
// two changes that are enough together.

// pairFinding is the nearest pair of changes found so far. The second change is in miss.Also.
type pairFinding struct{ finding }

// nearer reports whether a pair of changes with the codes a and b would be nearer than f. First the larger changes of both pairs are
// compared, then the smaller ones.
func (f *pairFinding) nearer(a, b planning.MissCode, size float64, price int64) bool {
	if f.miss == nil {
		return true
	}
	near := func(a, b planning.MissCode) (int, int) {
		return max(nearness(a), nearness(b)), min(nearness(a), nearness(b))
	}
	far, close := near(a, b)
	otherFar, otherClose := near(f.miss.Code, f.miss.Also.Code)
	return cmp.Or(cmp.Compare(far, otherFar), cmp.Compare(close, otherClose), cmp.Compare(size, f.size), cmp.Compare(price, f.price)) < 0
}

// take stores a pair of changes as the nearest miss. The miss gets the instance type of the second change.
func (f *pairFinding) take(first *planning.NearestMiss, second finding) {
	also := *second.miss
	first.InstanceType = also.InstanceType
	if also.Code != planning.MissOffering {
		also.InstanceType = nil
	}
	first.Also = &also
	f.finding = finding{miss: first, size: second.size, price: second.price}
}

// further adds to the reason r the other failing checks, and pairs of changes that would be enough. It is used if the pods tolerate the
// pool's taints and no single change would give them a place in the pool.
func (x misses) further(r *planning.Reason, at int32, p *nodepool.Pool) {
	if p.Table == nil || x.brief {
		return
	}
	switch r.Code {
	case planning.ReasonRequirements:
		r.NearestMiss = x.pair(at, p)
		x.furtherNeeds(r, at, p)
		x.furtherRules(r)
	case planning.ReasonInstanceTypes, planning.ReasonVolumes, planning.ReasonLimits, planning.ReasonReservation, planning.ReasonMinValues:
		r.NearestMiss = x.pair(at, p)
		x.furtherRules(r)
	}
	r.Also = r.Also[:min(len(r.Also), maxAlso)]
}

// furtherTaints does the same as further for pools whose taints the pods don't tolerate. list has the reasons of all pools.
func (x misses) furtherTaints(list []planning.Reason) {
	for i := range list {
		r := &list[i]
		if r.Code != planning.ReasonTaint || r.NearestMiss != nil || x.twins[i] < i || x.brief {
			continue
		}
		other, miss := x.tolerated(int32(i), list)
		addAlso(r, other)
		if miss != nil && miss.Also == nil {
			var pair pairFinding
			pair.take(&planning.NearestMiss{Code: planning.MissToleration, Taints: intolerable(x.s.Tolerations, x.m.Pools[i].Taints)}, finding{miss: miss})
			r.NearestMiss = pair.miss
		}
		r.Also = r.Also[:min(len(r.Also), maxAlso)]
	}
}

// addAlso adds the reason other to r.Also, with the reasons in other.Also. The reason other must also apply if r does not.
func addAlso(r *planning.Reason, other planning.Reason) {
	if other.Code == planning.ReasonNotPlaced || other.Code == planning.ReasonTopology && len(other.Rules) == 0 {
		return // if r does not apply, the reason other excludes no node
	}
	also := other.Also
	other.Also, other.NearestMiss, other.Pool = nil, nil, v1.PoolKey{}
	r.Also = append(append(r.Also, other), also...)
}

// toleratedPool is the explanation for a pool if the pods tolerated its taints.
type toleratedPool struct {
	reason planning.Reason
	miss   *planning.NearestMiss
}

// tolerated explains why the pool would have no place for the pods if they tolerated its taints. Pools that differ only in taints share the
// result. list has the reasons for the pools whose taints the pods tolerate.
func (x misses) tolerated(at int32, list []planning.Reason) (planning.Reason, *planning.NearestMiss) {
	first := x.likeButForTaints(at)
	if !x.mayAwait && !x.honoursTaints() {
		for i := range list {
			if list[i].Code != planning.ReasonTaint && x.twins[i] == i && x.untainted[i] == first {
				return list[i], list[i].NearestMiss
			}
		}
	}
	if known, ok := x.beyondTaints[first]; ok {
		return known.reason, known.miss
	}
	// With other tolerations, spreads that honor taints may count other nodes.
	x.loosely, x.wayOf = true, nil
	p := x.m.Pools[first]
	r, best := x.nodesOf(first, p)
	miss := x.nearestTolerated(first, p, best)
	if miss == nil {
		x.further(&r, first, p)
	}
	x.loosely, x.wayOf = false, nil
	if x.beyondTaints == nil {
		x.beyondTaints = map[int32]toleratedPool{}
	}
	x.beyondTaints[first] = toleratedPool{r, miss}
	return r, miss
}

// honoursTaints reports whether a spread of the pods counts only nodes whose taints the pods tolerate.
func (x misses) honoursTaints() bool {
	return x.c.Topology != nil && slices.ContainsFunc(x.c.Topology.Owns, func(g int32) bool { return x.m.Topology[g].Filter.Taints })
}

// likeButForTaints returns the index of the first pool that may differ only in taints and name from the pool with the index at. Both pools
// must have no limits, the same minValues, and nodes with the same labels except for the pool's name. It returns the same index if there is
// no such pool, or if pods require the label with the pool's name.
func (x *explanations) likeButForTaints(at int32) int32 {
	if x.untainted == nil {
		x.untainted = make([]int32, len(x.t.M.Pools))
		for i, p := range x.t.M.Pools {
			x.untainted[i] = int32(i)
			if p.Table == nil || p.Limits != nil || x.t.M.AskedKeys[p.Key.LabelKey()] {
				continue
			}
			x.untainted[i] = int32(slices.IndexFunc(x.t.M.Pools[:i+1], func(o *nodepool.Pool) bool {
				return o == p || o.SellsLike(p) && reflect.DeepEqual(p.Variety, o.Variety)
			}))
		}
	}
	return x.untainted[at]
}

// furtherNeeds completes the reason r, which names one requirement that the pool excludes. It adds the other requirements that the pool
// excludes, and the checks that nodes would still fail if all these requirements were left out.
func (x misses) furtherNeeds(r *planning.Reason, at int32, p *nodepool.Pool) {
	d := x.demands[0]
	refused := x.refusedKeys(p, d.own)
	for _, key := range refused {
		if key == r.Key {
			continue
		}
		if other := refusedBy(x.m, p, d.own.About(key)); other != nil {
			addAlso(r, *other)
		}
	}
	q := x.askWithout(at, p, 0, refused)
	if q == nil {
		return
	}
	other, _ := x.counted(at, p, []*question{q})
	addAlso(r, other)
}

// furtherRules adds the rules that refuse every node because no node has the label of their topology key.
func (x misses) furtherRules(r *planning.Reason) {
	told := func(r planning.Reason) bool { return r.Code == planning.ReasonTopology }
	if told(*r) || slices.ContainsFunc(r.Also, told) {
		return
	}
	var hopeless []planning.Rule
	for _, rule := range rulesOf(x.m, x.c.Topology) {
		if rule.kind != topology.Spread && rule.kind != topology.Affinity {
			continue
		}
		if told := ruleFaultsOf(x.explainer).described(&rule); len(told.Unknown) > 0 {
			hopeless = append(hopeless, told)
		}
	}
	if len(hopeless) > 0 {
		addAlso(r, planning.Reason{Code: planning.ReasonTopology, Rules: hopeless})
	}
}

// refusedKeys returns the labels for which no node of the pool can meet the pods' requirement.
func (x misses) refusedKeys(p *nodepool.Pool, n match.Needs) []string {
	return slices.DeleteFunc(n.Keys(), func(key string) bool { return refusedBy(x.m, p, n.About(key)) == nil })
}

// askWithout searches for nodes that meet the demand if the requirements on the given labels are left out. keys must be in ascending order.
func (x misses) askWithout(at int32, p *nodepool.Pool, demand int, keys []string) *question {
	d := x.demands[demand]
	return x.ask(questionKey{at: at, demand: demand, code: planning.MissLabel, key: strings.Join(keys, "\x00")}, func() (match.Needs, *nodepool.Pool) {
		return d.own.Without(keys...).And(d.volumes), p
	})
}

// maxPairKeys is the maximum number of labels of which all pairs are tried.
const maxPairKeys = 4

// pair returns the nearest pair of changes. Both changes leave out the pods' requirements on a label, or the second change corrects the
// check that nodes then fail.
func (x misses) pair(at int32, p *nodepool.Pool) *planning.NearestMiss {
	var best pairFinding
	d := x.demands[0]
	keys := d.own.Keys()
	keys = keys[:min(len(keys), maxPairKeys)]
	refused := x.refusedKeys(p, d.own)
	within := func(some ...string) bool {
		return !slices.ContainsFunc(refused, func(key string) bool { return !slices.Contains(some, key) })
	}
	for i, a := range keys {
		for _, b := range keys[i+1:] {
			if within(a, b) {
				x.withoutBoth(&best, x.askWithout(at, p, 0, []string{a, b}), a, b)
			}
		}
	}
	for _, key := range keys {
		if q := x.askWithout(at, p, 0, []string{key}); q != nil && within(key) {
			x.withoutAnd(&best, q, key)
		}
	}
	return best.miss
}

// withoutBoth tries to leave out the pods' requirements on two labels.
func (x misses) withoutBoth(best *pairFinding, q *question, a, b string) {
	below := int64(market.NoPrice)
	x.fitting(q, &below, func(cand *candidate) {
		if !best.nearer(planning.MissLabel, planning.MissLabel, 0, cand.price) || !x.keepsVariety(q, cand) || !ruleFaultsOf(x.explainer).admits(q, cand, false) {
			return
		}
		second := x.allowing(q, cand, b)
		second.InstanceType = x.option(q, cand)
		best.take(x.allowing(q, cand, a), finding{miss: second, price: cand.price})
	})
}

// withoutAnd tries to leave out the pods' requirements on a label and, in addition, the only check that nodes then fail.
func (x misses) withoutAnd(best *pairFinding, q *question, key string) {
	v := x.newSurvey(q.p)
	v.missesOnly = true
	v.walk(q)
	if v.best.miss != nil && best.nearer(planning.MissLabel, v.best.miss.Code, v.best.size, v.best.price) {
		best.take(x.allowing(q, &v.best.at, key), v.nearest())
	}
}

// allowing returns the miss for a label whose value on the candidate the pods don't allow.
func (x misses) allowing(q *question, cand *candidate, key string) *planning.NearestMiss {
	miss := &planning.NearestMiss{Code: planning.MissLabel, Key: key}
	if value := x.labelOn(q, cand, key); value != "" {
		miss.Values = []string{value}
	}
	x.blameSystem(miss)
	return miss
}
