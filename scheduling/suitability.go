package scheduling

import (
	"github.com/drawknife/drawknife/api/requirements"
)

// Explanations look at machines one by one and note for each every check that it fails: the check that most machines of
// a type fail first tells why a pod was refused, and a machine that fails just one tells what would help. Nothing here
// decides a placement.

// check is one step of the way to a new machine, in the order in which explanations count them.
type check uint8

const (
	checkRequirements check = iota
	checkResources
	checkOffering
	checkLimits
	checkReservation
	checkVariety
	checkTopology
	checksPassed
)

// checkSet is the set of checks that a machine fails.
type checkSet uint16

func (s checkSet) with(c check) checkSet { return s | 1<<c }
func (s checkSet) has(c check) bool      { return s&(1<<c) != 0 }

// only reports whether at most this check fails.
func (s checkSet) only(c check) bool { return s&^(1<<c) == 0 }

// first is the first check that fails, checksPassed if none does.
func (s checkSet) first() check {
	for c := range checksPassed {
		if s.has(c) {
			return c
		}
	}
	return checksPassed
}

// explainer answers why pods of one class have no place.
type explainer struct {
	t     *Trial
	m     *Model
	c     *class
	s     *shape
	cells *cells // nil without topology rules
	// awaits tells that the pod must not be placed but on a reservation; mayAwait that it might have to be if its demands
	// were others.
	awaits, mayAwait bool
	// shut are the offerings that are not available now, by catalog; shared by all explainers of a plan.
	shut map[*catalog]map[machineSite]int64
	// everyone are, by spread group, its members by domain, on machines that the group takes no notice of as well.
	everyone map[int32][]int32
	// brief explainers look for no nearest miss.
	brief bool
}

// ruleSite is what topology rules can tell of a new machine: its cell and its DaemonSets; loosely if spread rules are
// checked whatever machines they count.
type ruleSite struct {
	cell, resident int32
	loosely        bool
}

// question is a demand on a pool, perhaps on a changed copy of one that the model has.
type question struct {
	p  *pool
	at int32
	// rows and slots meet the demand; assigned are ways to decide labels left open that meet it too.
	rows, slots bitset
	assigned    []assignment
	// changed tells that the pod's own demands or the pool are not those that the plan was made with, so that spread
	// rules may count other machines.
	changed bool
	// admitted remembers what topology rules say.
	admitted map[ruleSite]bool
	// varied remembers which rows keep the pool's minValues.
	varied map[int]bool
}

// candidate is a machine that could be bought, and how it fares.
type candidate struct {
	row, slot int
	as        *assignment
	price     int64
	fails     checkSet
	// dim is the one resource that it has too little of; -1 for none, -2 for several.
	dim int
}

// ask finds the machines of the pool that meet the demand, resources aside. It reports false where the pool itself
// excludes the demand.
func (x *explainer) ask(at int32, p *pool, demand needs, changed bool) (*question, bool) {
	for _, r := range demand {
		if x.m.demandKey(p, r) != nil {
			return nil, false
		}
	}
	q := &question{p: p, at: at, changed: changed, admitted: map[ruleSite]bool{}, varied: map[int]bool{}}
	q.rows, q.slots = fullBitset(len(p.table.rows)), p.table.catalog.allSlots.clone()
	for r := range p.template.All {
		x.m.narrow(p, r, q.rows, q.slots)
	}
	for _, r := range demand {
		x.m.narrow(p, p.template.Get(r.Key()).Intersect(r), q.rows, q.slots)
	}
	q.assigned = x.assignments(p, demand)
	some := newBitset(len(p.table.rows))
	for i := range q.assigned {
		if q.assigned[i].rows == nil {
			return q, true
		}
		some.or(q.assigned[i].rows)
	}
	q.rows.and(some)
	return q, true
}

// assignments are the ways to decide the pool's open labels under which a machine meets the demand: labels that topology
// rules look at with each of their values, others with one that will do.
func (x *explainer) assignments(p *pool, demand needs) []assignment {
	sets := []requirements.Set{{}}
	seen := map[string]bool{}
	widen := func(key string, choices []requirements.Requirement) {
		if seen[key] || !x.m.leftOpen(p, key) {
			return
		}
		seen[key] = true
		var next []requirements.Set
		for _, s := range sets {
			for _, r := range choices {
				if len(next) < maxAssignments && demand.about(key).metBy(requirements.NewSet(r)) {
					next = append(next, s.With(r))
				}
			}
		}
		sets = next
	}
	for _, key := range x.m.topologyKeys {
		if x.m.leftOpen(p, key) {
			widen(key, x.m.candidates(p, key, nil))
		}
	}
	for _, r := range demand {
		wanted := p.template.Get(r.Key())
		for _, d := range demand.about(r.Key()) {
			wanted = wanted.Intersect(d)
		}
		widen(r.Key(), []requirements.Requirement{p.decide(r.Key(), wanted)})
	}
	return x.m.withRows(p, sets)
}

// about are the needs on one key.
func (n needs) about(key string) needs {
	var out needs
	for _, r := range n {
		if r.Key() == key {
			out = append(out, r)
		}
	}
	return out
}

// without are the needs on all other keys.
func (n needs) without(key string) needs {
	var out needs
	for _, r := range n {
		if r.Key() != key {
			out = append(out, r)
		}
	}
	return out
}

// look shows every machine that meets the question's requirements and is sold at all, available now or not.
func (x *explainer) look(q *question, see func(*candidate)) {
	t := q.p.table
	shut := x.shutOfferings(t.catalog)
	for r := range q.rows.members {
		row := &t.rows[r]
		fails, dim := x.rowFails(q, r)
		if fails != 0 && dim == -2 {
			continue // too small in several ways: no single change helps
		}
		for a := range q.assigned {
			as := &q.assigned[a]
			if as.rows != nil && !as.rows.has(r) {
				continue
			}
			for s := range row.slots.members {
				if !q.slots.has(s) {
					continue
				}
				cand := candidate{row: r, slot: s, as: as, price: t.catalog.price(row.variant, s), fails: fails, dim: dim}
				if cand.price == noPrice {
					price, sold := shut[machineSite{variant: int32(row.variant), slot: int32(s)}]
					if !sold {
						continue
					}
					cand.price, cand.fails = price, cand.fails.with(checkOffering)
				}
				x.slotFails(q, &cand)
				see(&cand)
			}
		}
	}
}

// rowFails are the checks that depend on the row alone.
func (x *explainer) rowFails(q *question, r int) (checkSet, int) {
	fails, dim := checkSet(0), -1
	for d, have := range q.p.table.allocOf(r, x.m.resources.len()) {
		switch {
		case x.c.requests[d] <= have:
		case dim == -1:
			fails, dim = fails.with(checkResources), d
		default:
			dim = -2
		}
	}
	if l := q.p.limits; l != nil && !l.allow(x.t.usage[q.at], q.p.rowCost(r)) {
		fails = fails.with(checkLimits)
	}
	return fails, dim
}

// slotFails adds the checks that depend on where the machine is bought. The dearer checks are left out where two
// others fail already.
func (x *explainer) slotFails(q *question, cand *candidate) {
	switch id := q.p.table.catalog.slots[cand.slot].reservation; {
	case id == "" && (x.awaits || (x.mayAwait && (q.changed || cand.fails.has(checkResources)))):
		cand.fails = cand.fails.with(checkReservation)
	case id != "" && x.t.reserved[id] >= q.p.table.catalog.reservations[id]:
		cand.fails = cand.fails.with(checkReservation)
	}
	if cand.fails&(cand.fails-1) != 0 {
		return
	}
	if x.t.strictVariety(q.p) && !x.keepsVarietyOn(q, cand.row) {
		cand.fails = cand.fails.with(checkVariety)
	}
	if x.c.topology != nil && !x.admits(q, cand) {
		cand.fails = cand.fails.with(checkTopology)
	}
}

// keepsVarietyOn reports whether the types that can stand in for the row are as varied as the pool's minValues ask for.
func (x *explainer) keepsVarietyOn(q *question, r int) bool {
	ok, known := q.varied[r]
	if !known {
		ok = x.m.variedFor(q.p, q.p.table.allocOf(r, x.m.resources.len()), q.rows, q.slots)
		q.varied[r] = ok
	}
	return ok
}

// shutOfferings are the prices of the offerings that are not available now and have their type's own capacity.
func (x *explainer) shutOfferings(c *catalog) map[machineSite]int64 {
	if known, ok := x.shut[c]; ok {
		return known
	}
	slotOf := make(map[string]int32, len(c.slots))
	for s := range c.slots {
		slotOf[c.slots[s].labels.String()] = int32(s)
	}
	out := map[machineSite]int64{}
	for v := range c.variants {
		typ := c.variants[v].typ
		if v > 0 && c.variants[v-1].typ == typ {
			continue // the type's own capacity comes first
		}
		for i := range c.types[typ].Offerings {
			o := &c.types[typ].Offerings[i]
			if o.Available || overrideText(o) != "" {
				continue
			}
			site := machineSite{variant: int32(v), slot: slotOf[o.Requirements.String()]}
			if price, ok := out[site]; !ok || nanoUSD(o.Price) < price {
				out[site] = nanoUSD(o.Price)
			}
		}
	}
	x.shut[c] = out
	return out
}

// labelOn is the value of a label on the candidate: like Model.machineLabel, but for the question's pool, and with a
// value of the machine's type where it leaves several.
func (x *explainer) labelOn(q *question, cand *candidate, key string) string {
	c := q.p.table.catalog
	have := q.p.template.Get(key)
	_, stated := c.typeKeys[key]
	switch {
	case c.offeringKeys[key]:
		return onlyValue(c.slots[cand.slot].labels.Get(key))
	case cand.as.labels.Has(key):
		return onlyValue(cand.as.labels.Get(key))
	case stated:
		own := c.types[c.variants[q.p.table.rows[cand.row].variant].typ].Requirements
		if !own.Has(key) {
			return ""
		}
		have = have.Intersect(own.Get(key))
	case !q.p.template.Has(key):
		return ""
	}
	value, _ := have.AnyValue()
	return value
}

// domains are the topology domains of the candidate.
func (x *explainer) domains(q *question, cand *candidate) []int32 {
	if q.p == x.m.pools[q.at] {
		return x.cells.list[x.cells.ofMachine(q.at, int32(cand.row), int32(cand.slot), cand.as)]
	}
	return x.t.topology.domainsOf(func(key string) string { return x.labelOn(q, cand, key) })
}

// option describes the candidate for people.
func (x *explainer) option(q *question, cand *candidate) *InstanceTypeOption {
	c := q.p.table.catalog
	s := &c.slots[cand.slot]
	return &InstanceTypeOption{
		Name: c.types[c.variants[q.p.table.rows[cand.row].variant].typ].Name, Zone: s.zone, CapacityType: s.capacityType,
		Price: float64(cand.price) / nanoPerUSD,
	}
}
