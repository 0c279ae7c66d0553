package scheduling

import (
	"cmp"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// finding is the nearest miss so far, with what it is compared by. The zero value is none.
type finding struct {
	miss  *NearestMiss
	size  float64
	price int64
}

// nearer reports whether a miss of that code, size and price would be nearer than the finding.
func (f *finding) nearer(code MissCode, size float64, price int64) bool {
	return f.miss == nil || cmp.Or(cmp.Compare(code.nearness(), f.miss.Code.nearness()), cmp.Compare(size, f.size), cmp.Compare(price, f.price)) < 0
}

// worth reports whether misses of the code are still worth looking for.
func (f *finding) worth(code MissCode) bool {
	return f.miss == nil || code.nearness() < f.miss.Code.nearness()
}

// consider takes the candidate as a finding if it fails a single check, topology aside.
func (x *explainer) consider(best *finding, q *question, cand *candidate) {
	if x.brief || cand.fails == 0 || !cand.fails.only(cand.fails.first()) {
		return
	}
	miss, size := NearestMiss{}, 0.0
	switch cand.fails.first() {
	case checkResources:
		miss, size = x.lessOf(cand.dim, q.p.table.allocOf(cand.row, x.m.resources.len())[cand.dim])
	case checkOffering:
		miss.Code = MissOffering
	case checkLimits:
		miss.Code = MissLimits
		miss.Amounts, size = x.raises(q, cand.row)
	case checkReservation:
		miss.Code, miss.Reservation = MissReservation, q.p.table.catalog.slots[cand.slot].reservation
		if miss.Reservation == "" {
			size = 1
		}
	case checkVariety:
		miss.Code = MissMinValues
	}
	if miss.Code != "" && best.nearer(miss.Code, size, cand.price) {
		miss.Machine = x.option(q, cand)
		*best = finding{&miss, size, cand.price}
	}
}

// lessOf is by how much a request is too large for what there is. Nothing is said of pods: each is one.
func (x *explainer) lessOf(dim int, have int64) (NearestMiss, float64) {
	need := x.c.requests[dim]
	if dim == dimPods || have < 0 {
		return NearestMiss{}, 0
	}
	name := x.m.resources.names[dim]
	miss := NearestMiss{Code: MissResources, Amounts: corev1.ResourceList{name: quantity(name, need-have)}}
	if have == 0 {
		miss.Code = MissResourceGivenUp
	}
	return miss, float64(need-have) / float64(need)
}

// raises is by how much the pool's limits would have to be raised for one more machine of the row, and how much that is
// as a share of what they are.
func (x *explainer) raises(q *question, row int) (corev1.ResourceList, float64) {
	l := q.p.limits
	out, share := corev1.ResourceList{}, 0.0
	for i, cost := range q.p.rowCost(row) {
		if over := x.t.usage[q.at][i] + cost - l.max[i]; over > 0 {
			out[l.names[i]] = quantity(l.names[i], over)
			share += float64(over) / math.Max(float64(l.max[i]), 1)
		}
	}
	return out, share
}

// refuses reports whether the rule by itself keeps the pod off the candidate, which fails nothing but topology. If
// it is the only one that does, the candidate is considered.
func (x *explainer) refuses(best *finding, q *question, cand *candidate, r *rule) bool {
	domains, of := x.cells.list[x.siteOf(q, cand).cell], x.countsOn(q, cand)
	if x.admitsAt(x.c.topology.alone(x.m, r), domains, of, false) {
		return false
	}
	if miss, size, ok := x.unruled(best, r, domains, of, cand.price); ok {
		miss.Machine = x.option(q, cand)
		*best = finding{&miss, size, cand.price}
	}
	return true
}

// unruled is the miss of doing without a rule on a machine; false if that does not help, or not enough.
func (x *explainer) unruled(best *finding, r *rule, domains []int32, of func(int32) tally, price int64) (NearestMiss, float64, bool) {
	miss, size := NearestMiss{Code: MissTopology}, float64(math.MaxInt32)
	if r.kind == kindSpread {
		if miss.MaxSkew = x.skewNeeded(r, domains, of); miss.MaxSkew > 0 {
			size = float64(miss.MaxSkew)
		}
	}
	if x.brief || !best.nearer(miss.Code, size, price) || !x.admitsAt(x.c.topology.without(r), domains, of, false) {
		return miss, size, false
	}
	miss.Rule = x.words(r)
	return miss, size, true
}

// nearest is the pool's nearest miss: that of a single failed check, if nothing nearer is found by letting off a
// demand of the pod or of the pool.
func (x *explainer) nearest(at int32, p *pool, best finding) *NearestMiss {
	if p.table == nil || x.brief {
		return best.miss
	}
	if untolerated(x.s.tolerations, p.taints, true) != nil {
		x.tolerating(&best, at, p) // any other machine of the pool would need that as well
		return best.miss
	}
	if best.worth(MissLabel) {
		x.withoutLabels(&best, at, p)
	}
	if best.worth(MissVolumes) && x.s.volumes.alternatives != nil {
		x.withoutVolumes(&best, at, p)
	}
	if best.worth(MissNodePool) {
		x.withoutPoolNeeds(&best, at, p)
	}
	return best.miss
}

// fitting shows the machines that meet the changed demand and every other check.
func (x *explainer) fitting(at int32, p *pool, n needs, see func(*question, *candidate)) {
	if n.conflict() != "" {
		return
	}
	if q, ok := x.ask(at, p, n, true); ok {
		x.look(q, func(cand *candidate) {
			if cand.fails == 0 {
				see(q, cand)
			}
		})
	}
}

func (x *explainer) tolerating(best *finding, at int32, p *pool) {
	var missing []corev1.Taint
	for i := range p.taints {
		if taint := untolerated(x.s.tolerations, p.taints[i:i+1], true); taint != nil {
			missing = append(missing, *taint)
		}
	}
	for _, d := range x.demands() {
		x.fitting(at, p, d.both(), func(q *question, cand *candidate) {
			if best.nearer(MissToleration, 0, cand.price) {
				*best = finding{miss: &NearestMiss{Code: MissToleration, Taints: missing, Machine: x.option(q, cand)}, price: cand.price}
			}
		})
	}
}

// valued collects, for a label, the machines by what they have there.
type valued struct {
	// price of the cheapest machine, by value.
	price  map[string]int64
	option *InstanceTypeOption
	least  int64
}

func (v *valued) note(x *explainer, q *question, cand *candidate, value string) {
	if v.price == nil {
		v.price, v.least = map[string]int64{}, math.MaxInt64
	}
	if price, ok := v.price[value]; !ok || cand.price < price {
		v.price[value] = cand.price
	}
	if cand.price < v.least {
		v.least, v.option = cand.price, x.option(q, cand)
	}
}

// take makes the collection a finding.
func (v *valued) take(best *finding, code MissCode, key string) {
	if v.option == nil || !best.nearer(code, 0, v.least) {
		return
	}
	values := slices.SortedFunc(maps.Keys(v.price), func(a, b string) int {
		return cmp.Or(cmp.Compare(v.price[a], v.price[b]), cmp.Compare(a, b))
	})
	values = slices.DeleteFunc(values, func(s string) bool { return s == "" })
	*best = finding{miss: &NearestMiss{Code: code, Key: key, Values: values[:min(len(values), maxMissValues)], Machine: v.option}, price: v.least}
}

// withoutLabels lets off, key by key, what the pod itself asks of labels.
func (x *explainer) withoutLabels(best *finding, at int32, p *pool) {
	for _, d := range x.demands() {
		for _, key := range d.own.keys() {
			var v valued
			x.fitting(at, p, d.own.without(key).and(d.volumes), func(q *question, cand *candidate) {
				v.note(x, q, cand, x.labelOn(q, cand, key))
			})
			v.take(best, MissLabel, key)
		}
	}
}

// keys lists the keys that needs are about, ascending.
func (n needs) keys() []string {
	var out []string
	for _, r := range n {
		if len(out) == 0 || out[len(out)-1] != r.Key() {
			out = append(out, r.Key())
		}
	}
	return out
}

// withoutVolumes lets the volumes be used anywhere; the miss names a label by which they can't be used there now.
func (x *explainer) withoutVolumes(best *finding, at int32, p *pool) {
	for _, own := range x.s.terms {
		for _, key := range needsOf(x.s.volumes.alternatives[0]).keys() {
			var v valued
			x.fitting(at, p, own, func(q *question, cand *candidate) {
				value := x.labelOn(q, cand, key)
				if value != "" && !x.s.volumes.alternatives[0].Get(key).Has(value) {
					v.note(x, q, cand, value)
				}
			})
			v.take(best, MissVolumes, key)
		}
	}
}

// withoutPoolNeeds lets off, key by key, what the pool asks of labels, or states a label that it lacks.
func (x *explainer) withoutPoolNeeds(best *finding, at int32, p *pool) {
	for _, d := range x.demands() {
		both := d.both()
		for _, key := range x.poolKeys(p, both) {
			changed := x.changedPool(p, key, both.about(key))
			if changed == nil {
				continue
			}
			var v valued
			daemons := map[string][]daemonMask{}
			x.fitting(at, changed, both, func(q *question, cand *candidate) {
				value := x.labelOn(q, cand, key)
				if x.holdsDaemons(q, cand, key, value, daemons) {
					v.note(x, q, cand, value)
				}
			})
			v.take(best, MissNodePool, key)
		}
	}
}

// poolKeys are the labels that the pool states and could state otherwise, and those that the demand asks for and nobody
// states.
func (x *explainer) poolKeys(p *pool, n needs) []string {
	own := []string{labelNodePool}
	if class := p.object.Spec.Template.Spec.NodeClassRef; class.Kind != "" {
		own = append(own, nodeClassLabel(class.Group, class.Kind))
	}
	c := p.table.catalog
	var out []string
	for _, key := range p.template.Keys() {
		if _, typed := c.typeKeys[key]; typed || c.offeringKeys[key] || len(n.about(key)) > 0 {
			out = append(out, key)
		}
	}
	for _, key := range n.keys() {
		if _, typed := c.typeKeys[key]; !typed && !c.offeringKeys[key] && !p.template.Has(key) && key != labelHostname && x.m.vocab.Restricted(key) == "" {
			out = append(out, key)
		}
	}
	return slices.DeleteFunc(out, func(key string) bool { return slices.Contains(own, key) })
}

// changedPool is a copy of the pool that says nothing of the label, or what the demand asks where only the pool can say
// it; nil where that can't be.
func (x *explainer) changedPool(p *pool, key string, wanted needs) *pool {
	if slices.ContainsFunc(p.variety, func(v variety) bool { return v.key == key }) {
		return nil
	}
	out := *p
	out.template = p.template.Without(key)
	c := p.table.catalog
	if _, typed := c.typeKeys[key]; !typed && !c.offeringKeys[key] && !wanted.metBy(out.template) {
		all := requirements.Exists(key)
		for _, r := range wanted {
			all = all.Intersect(r)
		}
		value, ok := all.AnyValue()
		if !ok {
			return nil
		}
		out.template = out.template.With(requirements.In(key, value))
	}
	out.rows, out.slots = fullBitset(len(p.table.rows)), c.allSlots.clone()
	for r := range out.template.All {
		x.m.narrow(&out, r, out.rows, out.slots)
	}
	return &out
}

// holdsDaemons reports whether the machine of a changed pool holds the pod beside the DaemonSets that would run on it:
// those follow the pool's labels.
func (x *explainer) holdsDaemons(q *question, cand *candidate, key, value string, known map[string][]daemonMask) bool {
	m := x.m
	if len(m.daemonSets) == 0 {
		return true
	}
	if x.c.topology != nil && slices.ContainsFunc(m.daemonSets, func(d daemon) bool { return m.classes[d.class].topology != nil }) {
		return false // rules could notice them: not worth finding out
	}
	c := q.p.table.catalog
	masks, ok := known[value]
	if !ok {
		with := *q.p
		if value != "" {
			with.template = with.template.With(requirements.In(key, value))
		}
		masks = m.daemonMasks(&with, c)
		known[value] = masks
	}
	v := q.p.table.rows[cand.row].variant
	need, have := slices.Clone(x.c.requests), make([]int64, len(x.c.requests))
	m.resources.capacityVector(c.variants[v].allocatable, have)
	m.resources.attachRoom(have, typeLimit(c.types[c.variants[v].typ]))
	for i := range masks {
		if masks[i].runsAt(v, cand.slot) {
			addScaled(need, masks[i].daemon.requests, 1)
		}
	}
	return fits(need, have)
}
