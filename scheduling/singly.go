package scheduling

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// placeSingly looks for places pod by pod, by the exact rules, for what placing in bulk has left: on any machine there
// is, else on a new one. It goes round until nothing finds a place any more, so that a pod left waiting fits nowhere.
func (t *Trial) placeSingly(ctx context.Context, c *cells, classes []int32) {
	order := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool {
		return t.waiting[class] == 0 || t.m.classes[class].invalid != nil
	})
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Compare(t.m.classes[b].priority, t.m.classes[a].priority)
	})
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for _, class := range order {
			for t.waiting[class] > 0 && ctx.Err() == nil && t.placeOne(c, class) {
				progress = true
			}
		}
		order = slices.DeleteFunc(order, func(class int32) bool { return t.waiting[class] == 0 })
		if t.topology == nil {
			return // nothing that others do can help
		}
	}
}

// placeOne places pods of the class on one host: as many as the first host found takes, if no rule concerns them, else
// one.
func (t *Trial) placeOne(c *cells, class int32) bool {
	if host, stage := t.findHost(class); host >= 0 {
		t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: stage})
		return true
	}
	if t.options.ExistingOnly {
		return false
	}
	s := t.findSite(c, class)
	if s == nil {
		return t.grow(class)
	}
	host := t.open(machine{pool: s.pool, row: s.row, slot: s.slot, price: s.price, labels: t.assigned[s.stage][s.pool][s.assign].labels})
	t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: s.stage})
	return true
}

// bulkOn is how many pods of the class go on the host at once.
func (t *Trial) bulkOn(class, host int32) int32 {
	c := t.m.classes[class]
	if i := host - int32(len(t.m.nodes)); c.topology != nil || (i >= 0 && t.strictVariety(t.m.pools[t.machines[i].pool])) {
		return 1
	}
	return int32(howMany(c.requests, t.roomOf(host), int(t.waiting[class])))
}

// roomOf is what is free on a host.
func (t *Trial) roomOf(host int32) []int64 {
	if host < int32(len(t.m.nodes)) {
		return t.freeOf(host)
	}
	mc := &t.machines[host-int32(len(t.m.nodes))]
	alloc := t.m.pools[mc.pool].table.allocOf(int(mc.row), t.m.resources.len())
	free := make([]int64, len(alloc))
	for d := range alloc {
		free[d] = alloc[d] - mc.used[d]
	}
	return free
}

// findHost is the first host that takes a pod of the class: machines of the snapshot in their order, then new ones.
func (t *Trial) findHost(class int32) (host, stage int32) {
	m := t.m
	c := m.classes[class]
	for i := range t.usable.members {
		if fits(c.requests, t.freeOf(int32(i))) && m.accepts(m.nodes[i].group, c.shape) && t.admits(c, int32(i)) {
			return int32(i), -1
		}
	}
	return t.findMachine(class)
}

// findMachine is the first new machine that takes a pod of the class, and the stage that allows it; -1 if none does.
func (t *Trial) findMachine(class int32) (host, stage int32) {
	m := t.m
	c := m.classes[class]
	dims := m.resources.len()
	for i := range t.machines {
		mc := &t.machines[i]
		if mc.empty() || !fitsBeside(c.requests, mc.used, m.pools[mc.pool].table.allocOf(int(mc.row), dims)) {
			continue
		}
		if stage := t.stageOn(c, mc); stage >= 0 && t.admits(c, int32(len(m.nodes)+i)) && t.keepsVariety(int32(len(m.nodes)+i), c, stage) {
			return int32(len(m.nodes) + i), stage
		}
	}
	return -1, -1
}

// fillPlanned places pods on machines planned before: for pods that come after others, room there costs nothing.
func (t *Trial) fillPlanned(classes []int32) {
	for _, class := range classes {
		for t.waiting[class] > 0 && t.m.classes[class].invalid == nil {
			host, stage := t.findMachine(class)
			if host < 0 {
				break
			}
			t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: stage})
		}
	}
}

// grow exchanges a new machine for a larger one of its pool that takes a pod of the class as well: the last resort, for
// pods that rules bind to a machine or a cell where nothing else can be bought.
func (t *Trial) grow(class int32) bool {
	m := t.m
	c := m.classes[class]
	loads := t.loads()
	for i := range t.machines {
		mc := &t.machines[i]
		host := int32(len(m.nodes) + i)
		if mc.empty() {
			continue
		}
		stage := t.stageOn(c, mc)
		if stage < 0 || !t.admits(c, host) {
			continue
		}
		larger := *mc
		larger.used = slices.Clone(mc.used)
		addScaled(larger.used, c.requests, 1)
		with := append(slices.Clone(loads[i]), binding{class: class, host: host, stage: stage})
		rows, slots, _ := t.leeway(&larger, with)
		if t.strictVariety(m.pools[mc.pool]) && !m.varied(m.pools[mc.pool], &larger, rows, slots) {
			continue
		}
		row, slot, price := m.cheapestWithin(&larger, rows, slots, t.spare(mc))
		if row < 0 || m.reservationOf(mc.pool, slot) != m.reservationOf(mc.pool, mc.slot) {
			continue
		}
		t.exchange(int32(i), row, slot, price)
		t.place(binding{class: class, host: host, count: 1, stage: stage})
		return true
	}
	return false
}

// spare is the most that a machine may take from its pool's limits in place of mc; nil for no limit.
func (t *Trial) spare(mc *machine) []int64 {
	p := t.m.pools[mc.pool]
	if p.limits == nil {
		return nil
	}
	most := slices.Clone(p.rowCost(int(mc.row)))
	for i, used := range t.usage[mc.pool] {
		most[i] += max(p.limits.max[i]-used, 0)
	}
	return most
}

func fitsBeside(need, used, alloc []int64) bool {
	for d, n := range need {
		if n+used[d] > alloc[d] {
			return false
		}
	}
	return true
}

func (t *Trial) admits(c *class, host int32) bool {
	return t.topology == nil || t.topology.admits(c.topology, c.shape, host)
}

// stageOn is the class's first stage that allows the machine, or -1.
func (t *Trial) stageOn(c *class, mc *machine) int32 {
	as := assignment{labels: mc.labels}
	if t.awaitsReservation(c) && t.m.reservationOf(mc.pool, mc.slot) == "" {
		return -1
	}
	for _, st := range t.stagesFor(c) {
		if t.m.stageAllows(st, mc.pool, int(mc.row), int(mc.slot), &as) {
			return st
		}
	}
	return -1
}

// findSite is the machine to buy for a pod of the class: of its first stage that has one, the cheapest; for pods that
// must share a machine with their like, the one that holds most of them.
func (t *Trial) findSite(c *cells, class int32) *site {
	m := t.m
	cl := m.classes[class]
	crowd, waits := t.mustShare(cl), t.awaitsReservation(cl)
	for _, st := range t.stagesFor(cl) {
		var best *site
		most, price := 0, int64(math.MaxInt64)
		sites := t.sitesOf(c, st, t.sites)
		for i := range sites {
			s := &sites[i]
			if !fits(cl.requests, s.alloc) || (waits && !s.limited) || !t.affordable(s.pool, s.row) || !t.reservable(s.pool, s.row, s.slot) || !t.admitsAt(cl, s) ||
				(t.strictVariety(m.pools[s.pool]) && !t.variedAt(cl, s)) {
				continue
			}
			held := 1
			if crowd {
				held = howMany(cl.requests, s.alloc, int(t.waiting[class]))
			}
			if held > most || (held == most && s.price < price) {
				best, most, price = s, held, s.price
			}
			if !crowd {
				break // sites are sorted by price
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// mustShare reports whether pods of the class require a machine with their like.
func (t *Trial) mustShare(c *class) bool {
	return c.topology != nil && slices.ContainsFunc(c.topology.owns, func(g int32) bool {
		gr := &t.m.topology[g]
		return gr.kind == kindAffinity && gr.hard && gr.at == hostnameKey
	})
}

// admitsAt checks the rules for a pod on a machine yet to be bought, by buying it for a moment: the DaemonSet pods that
// come with it count, and so does a domain that it brings.
func (t *Trial) admitsAt(cl *class, s *site) bool {
	if t.topology == nil {
		return true
	}
	if t.breaksSpread(t.cells.list[s.cell]) {
		return false
	}
	if cl.topology == nil {
		return true
	}
	before := t.Mark()
	host := t.open(machine{pool: s.pool, row: s.row, slot: s.slot, price: s.price, labels: t.assigned[s.stage][s.pool][s.assign].labels})
	ok := t.topology.admits(cl.topology, cl.shape, host)
	t.Rollback(before)
	return ok
}

// breaksSpread reports whether a new machine in these domains would bring a domain, with nothing in it yet, that a
// spread whose pods this trial has placed does not reckon with: they were placed by the domains there were.
func (t *Trial) breaksSpread(domains []int32) bool {
	for g := range t.m.topology {
		group := &t.m.topology[g]
		if group.kind != kindSpread || !group.hard || group.at == hostnameKey || !t.spreads(int32(g)) {
			continue
		}
		d := domains[group.at]
		if d == noDomain || countAt(t.topology.present[g], d) > 0 {
			continue
		}
		own := countAt(t.topology.members[g], d)
		for other, n := range t.topology.present[g] {
			if n > 0 && countAt(t.topology.members[g], int32(other))-own > group.maxSkew {
				return true
			}
		}
	}
	return false
}

// spreads reports whether the trial has placed a pod that states the rule.
func (t *Trial) spreads(g int32) bool {
	return slices.ContainsFunc(t.placed, func(b binding) bool {
		o := t.m.classes[b.class].topology
		return b.count > 0 && o != nil && contains(o.owns, g)
	})
}

// variedAt reports whether one pod of the class on a machine yet to be bought leaves the variety that its pool asks for.
func (t *Trial) variedAt(cl *class, s *site) bool {
	before := t.Mark()
	host := t.open(machine{pool: s.pool, row: s.row, slot: s.slot, price: s.price, labels: t.assigned[s.stage][s.pool][s.assign].labels})
	ok := t.keepsVariety(host, cl, s.stage)
	t.Rollback(before)
	return ok
}
