package explain

import (
	"cmp"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxMissValues limits NearestMiss.Values.
const maxMissValues = 3

// finding is the nearest miss so far, with the values by which misses are compared. The zero value means that no miss has been found.
type finding struct {
	miss  *planning.NearestMiss
	size  float64
	price int64
	// The field at is the new node, if the nearest miss concerns a new node.
	at candidate
}

// nearer reports whether a miss with the given code, size and price would be nearer than f.
func (f *finding) nearer(code planning.MissCode, size float64, price int64) bool {
	return f.miss == nil || cmp.Or(cmp.Compare(nearness(code), nearness(f.miss.Code)), cmp.Compare(size, f.size), cmp.Compare(price, f.price)) < 0
}

// worth reports whether a miss with the code could be nearer than f.
func (f *finding) worth(code planning.MissCode) bool {
	return f.miss == nil || nearness(code) < nearness(f.miss.Code)
}

// cut returns the code of the miss for a request that is too large, and the share of the request that exceeds the free amount. The code is
// empty if even a request of 0 would be too large. It is also empty for the resource "pods", because no pod can request less of it.
func (x misses) cut(dim int, have int64) (planning.MissCode, float64) {
	need := x.c.Requests[dim]
	share := float64(need-have) / float64(need)
	switch {
	case dim == resources.Pods || have < 0:
		return "", 0
	case have == 0:
		return planning.MissResourceGivenUp, share
	}
	return planning.MissResources, share
}

// less returns the miss for a request that is too large.
func (x misses) less(code planning.MissCode, dim int, have int64) *planning.NearestMiss {
	name := x.m.Resources.Names[dim]
	return &planning.NearestMiss{Code: code, Amounts: corev1.ResourceList{name: resources.Quantity(name, x.c.Requests[dim]-have)}}
}

// unruled checks whether topology rules would allow the pod in the given domains if rule r were left out. If they would, and if this miss
// is nearer than the best miss so far (*best), it stores the new miss in *best and returns it.
func (x misses) unruled(best *finding, r *rule, domains []int32, of func(int32) topology.Tally, price int64) *planning.NearestMiss {
	maxSkew, size := int32(0), float64(math.MaxInt32)
	if r.kind == topology.Spread {
		if maxSkew = ruleFaultsOf(x.explainer).skewNeeded(r, domains, of); maxSkew > 0 {
			size = float64(maxSkew)
		}
	}
	if x.brief || x.loosely || !best.nearer(planning.MissTopology, size, price) || !ruleFaultsOf(x.explainer).admitsAt(r.leftOutOf(x.c.Topology), domains, of, false) {
		return nil
	}
	words := ruleFaultsOf(x.explainer).words(r)
	if r.kind == topology.Exclusive {
		words = strings.TrimSuffix(words, planning.TakenWords)
	}
	*best = finding{miss: &planning.NearestMiss{Code: planning.MissTopology, MaxSkew: maxSkew, Rule: words}, size: size, price: price}
	return best.miss
}

// nearest returns the pool's nearest miss. That is the miss of a single failed check, unless leaving out a label requirement of the pod or
// of the pool gives a nearer miss.
func (x misses) nearest(at int32, p *nodepool.Pool, best finding) *planning.NearestMiss {
	if p.Table == nil || x.brief {
		return best.miss
	}
	if match.Untolerated(x.s.Tolerations, p.Taints, true) != nil {
		x.tolerating(&best, at, p) // any other change would also need this toleration
		return best.miss
	}
	return x.nearestTolerated(at, p, best)
}

// nearestTolerated returns the nearest miss as if the pods tolerated the pool's taints.
func (x misses) nearestTolerated(at int32, p *nodepool.Pool, best finding) *planning.NearestMiss {
	if best.worth(planning.MissLabel) {
		x.withoutLabels(&best, at, p)
	}
	if best.worth(planning.MissVolumes) && x.s.Volumes.Alternatives != nil {
		x.withoutVolumes(&best, at, p)
	}
	if best.worth(planning.MissNodePool) {
		x.withoutPoolNeeds(&best, at, p)
	}
	if best.worth(planning.MissOffering) {
		x.withAllOfferings(&best, at, p)
	}
	return best.miss
}

// fewDemands returns the first maxDemands of the demands.
func (x misses) fewDemands() []demand { return x.demands[:min(len(x.demands), maxDemands)] }

// would reports whether a candidate that the method fitting found is a nearer miss than best. The candidate must also pass the checks that
// fitting omits: minValues and topology rules.
func (x misses) would(best *finding, code planning.MissCode, q *question, cand *candidate) bool {
	return best.nearer(code, 0, cand.price) && x.keepsVariety(q, cand) && ruleFaultsOf(x.explainer).admits(q, cand, false)
}

func (x misses) tolerating(best *finding, at int32, p *nodepool.Pool) {
	missing := intolerable(x.s.Tolerations, p.Taints)
	for i, d := range x.fewDemands() {
		q := x.ask(questionKey{at: at, demand: i, code: planning.MissToleration}, func() (match.Needs, *nodepool.Pool) { return d.both(), p })
		below := int64(market.NoPrice)
		x.fitting(q, &below, func(cand *candidate) {
			if x.would(best, planning.MissToleration, q, cand) {
				*best = finding{miss: &planning.NearestMiss{Code: planning.MissToleration, Taints: missing, InstanceType: x.option(q, cand)}, price: cand.price}
			}
		})
	}
}

// intolerable returns the taints that none of the tolerations matches, except PreferNoSchedule taints.
func intolerable(tolerations []corev1.Toleration, taints []corev1.Taint) []corev1.Taint {
	var out []corev1.Taint
	for i := range taints {
		if taint := match.Untolerated(tolerations, taints[i:i+1], true); taint != nil {
			out = append(out, *taint)
		}
	}
	return out
}

// withoutVolumes searches for a node as if the pod's volumes could be used anywhere. The miss names a label that determines where the
// volumes can be used now.
func (x misses) withoutVolumes(best *finding, at int32, p *nodepool.Pool) {
	first := x.s.Volumes.Alternatives[0]
	keys := x.fewKeys(p, first.Keys())
	for i := range x.s.Terms[:min(len(x.s.Terms), maxDemands)] {
		for _, key := range keys {
			elsewhere := func(_ *candidate, value string) bool { return value != "" && !first.Get(key).Has(value) }
			x.labelled(x.askWithoutVolumes(at, p, i), key, elsewhere).take(best, planning.MissVolumes, key)
		}
	}
}

// withoutPoolNeeds tries to leave out the pool's label requirements, one key at a time, or to add a label that the pool lacks.
func (x misses) withoutPoolNeeds(best *finding, at int32, p *nodepool.Pool) {
	for i, d := range x.fewDemands() {
		both := d.both()
		for _, key := range x.deciding(p, both, x.poolKeys(p, both)) {
			q := x.ask(questionKey{at: at, demand: i, code: planning.MissNodePool, key: key}, func() (match.Needs, *nodepool.Pool) {
				return both, x.changedPool(p, key, both.About(key))
			})
			daemons := map[string][]daemonset.Mask{}
			x.labelled(q, key, func(cand *candidate, value string) bool {
				return x.holdsDaemons(q, cand, key, value, daemons)
			}).take(best, planning.MissNodePool, key)
		}
	}
}

// poolKeys returns the labels that the pool states and could change, and the labels that the demand requires and that no pool, type or
// offering states.
func (x misses) poolKeys(p *nodepool.Pool, n match.Needs) []string {
	own := []string{v1.NodePoolLabelKey, "karpenter.sh/provisioner-name"}
	if class := p.Object.Spec.Template.Spec.NodeClassRef; class.Kind != "" {
		own = append(own, nodepool.ClassLabel(class.Group, class.Kind))
	}
	c := p.Table.Catalog
	var out []string
	for _, key := range p.Template.Keys() {
		if _, typed := c.TypeKeys[key]; typed || c.OfferingKeys[key] || len(n.About(key)) > 0 {
			out = append(out, key)
		}
	}
	for _, key := range n.Keys() {
		if _, typed := c.TypeKeys[key]; !typed && !c.OfferingKeys[key] && !p.Template.Has(key) && key != corev1.LabelHostname && x.m.Vocab.Restricted(key) == "" {
			out = append(out, key)
		}
	}
	return slices.DeleteFunc(out, func(key string) bool { return slices.Contains(own, key) })
}

// changedPool returns a copy of the pool without the label key. If the demand requires the label and neither types nor offerings state it,
// the copy states a value that the demand allows. It returns nil if there is no such value, or if the pool's minValues name the label.
func (x misses) changedPool(p *nodepool.Pool, key string, wanted match.Needs) *nodepool.Pool {
	if slices.ContainsFunc(p.Variety, func(v nodepool.Variety) bool { return v.Key == key }) {
		return nil
	}
	out := *p
	out.Template = p.Template.Without(key)
	c := p.Table.Catalog
	if _, typed := c.TypeKeys[key]; !typed && !c.OfferingKeys[key] && !wanted.MetBy(out.Template) {
		all := requirements.Exists(key)
		for _, r := range wanted {
			all = all.Intersect(r)
		}
		value, ok := all.AnyValue()
		if !ok {
			return nil
		}
		out.Template = out.Template.With(requirements.In(key, value))
	}
	out.Rows, out.Slots = bitset.Full(len(p.Table.Rows)), c.AllSlots.Clone()
	for k, stated := range x.factsOf(int32(slices.Index(x.m.Pools, p))).stated {
		if k != key {
			out.Rows.And(stated.Rows)
			out.Slots.And(stated.Slots)
		}
	}
	return &out
}

// holdsDaemons reports whether the node of a changed pool has room for the pod and for its DaemonSet pods. The pool's labels determine
// which DaemonSets run on the node.
func (x misses) holdsDaemons(q *question, cand *candidate, key, value string, known map[string][]daemonset.Mask) bool {
	m := x.m
	if len(m.DaemonSets) == 0 {
		return true
	}
	if x.c.Topology != nil && slices.ContainsFunc(m.DaemonSets, func(d daemonset.Set) bool { return m.Classes[d.Class].Topology != nil }) {
		return false // topology rules could depend on the DaemonSet pods, and computing this is not worth its time
	}
	c := q.p.Table.Catalog
	masks, ok := known[value]
	if !ok {
		carried := q.p.Template
		if value != "" {
			carried = carried.With(requirements.In(key, value))
		}
		masks = daemonset.Masks(m.DaemonSets, model.Registered(carried, m.Vocab), q.p.Taints, c)
		known[value] = masks
	}
	v := q.p.Table.Rows[cand.row].Variant
	need, have := slices.Clone(x.c.Requests), make([]int64, len(x.c.Requests))
	m.Resources.Capacity(c.Variants[v].Allocatable, have)
	m.Resources.AttachRoom(have, market.AttachLimit(c.Types[c.Variants[v].Type]))
	m.Devices.RoomOfType(c.Types[c.Variants[v].Type], c.Variants[v].Offering, have)
	for i := range masks {
		if masks[i].RunsAt(v, cand.slot) {
			resources.AddScaled(need, masks[i].Set.Requests, 1)
		}
	}
	return resources.Fits(need, have)
}

// withAllOfferings tries offerings that are not available now.
func (x misses) withAllOfferings(best *finding, at int32, p *nodepool.Pool) {
	prices, over := x.shutOfferings(p.Table.Catalog), x.factsOf(at).over
	for i, d := range x.fewDemands() {
		q := x.ask(questionKey{at: at, demand: i}, func() (match.Needs, *nodepool.Pool) { return d.both(), p })
		if q == nil {
			continue
		}
		rows := q.rows.Clone()
		rows.And(x.roomyIn(p.Table))
		var each candidate
		for r := range rows.Members {
			if over != nil && over.Has(r) {
				continue
			}
			eachWay(q, r, &each, func(cand *candidate) {
				x.looks++
				price, shut := prices[variantSlot{variant: int32(p.Table.Rows[r].Variant), slot: int32(cand.slot)}]
				if cand.price != market.NoPrice || !shut || !best.nearer(planning.MissOffering, 0, price) {
					return
				}
				cand.price = price
				if x.reservable(q, cand.slot, x.awaits || x.mayAwait) && x.keepsVariety(q, cand) && ruleFaultsOf(x.explainer).admits(q, cand, true) {
					*best = finding{miss: &planning.NearestMiss{Code: planning.MissOffering, InstanceType: x.option(q, cand)}, price: price}
				}
			})
		}
	}
}

// nearness returns the position of the code when misses are compared: lower is nearer.
func nearness(c planning.MissCode) int {
	switch c {
	case planning.MissToleration:
		return 0
	case planning.MissLimits:
		return 1
	case planning.MissReservation:
		return 2
	case planning.MissMinValues:
		return 3
	case planning.MissTopology:
		return 4
	case planning.MissLabel:
		return 5
	case planning.MissResources:
		return 6
	case planning.MissVolumes:
		return 7
	case planning.MissNodePool:
		return 8
	case planning.MissResourceGivenUp:
		return 9
	case planning.MissDevices:
		return 10
	case planning.MissOffering:
		return 11
	}
	return -1
}
