package scheduling

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
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
		t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: stage, tight: t.tightly(class)})
		return true
	}
	if t.decideAndJoin(class) {
		return true
	}
	if t.options.ExistingOnly {
		return false
	}
	s := t.findSite(c, class)
	if s == nil {
		s = t.findVariedSite(c, class)
	}
	if s == nil {
		return t.grow(class)
	}
	host := t.open(machine{pool: s.pool, row: s.row, slot: s.slot, price: s.price, labels: t.assigned[s.stage][s.pool][s.assign].labels})
	t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: s.stage, tight: t.tightly(class)})
	return true
}

// bulkOn is how many pods of the class go on the host at once.
func (t *Trial) bulkOn(class, host int32) int32 {
	c := t.m.classes[class]
	if i := host - int32(len(t.m.nodes)); c.topology != nil || (i >= 0 && t.strictVariety(t.m.pools[t.machines[i].pool])) {
		return 1
	}
	return max(int32(howMany(c.requests, t.roomOf(host), int(t.waiting[class]))), 1)
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
		if t.newOnly {
			break
		}
		if fits(t.needOn(c, int32(i)), t.freeOf(int32(i))) && m.accepts(m.nodes[i].group, c.shape) && t.admits(c, int32(i)) {
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
		if i < t.fresh || mc.empty() || !fitsBeside(t.needOn(c, int32(len(m.nodes)+i)), mc.used, m.pools[mc.pool].table.allocOf(int(mc.row), dims)) {
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
			if host >= 0 {
				t.place(binding{class: class, host: host, count: t.bulkOn(class, host), stage: stage})
			} else if !t.decideAndJoin(class) {
				break
			}
		}
	}
}

// decideAndJoin puts a pod of the class on a new machine that costs no more for it once labels are decided that its pods have
// left open so far.
func (t *Trial) decideAndJoin(class int32) bool {
	m := t.m
	c := m.classes[class]
	before, cost := t.Mark(), int64(-1)
	for _, st := range t.stagesFor(c) {
		for i := t.fresh; i < len(t.machines); i++ {
			mc := &t.machines[i]
			host := int32(len(m.nodes) + i)
			if mc.empty() || !m.undecided(st, mc) || (t.awaitsReservation(c) && m.reservationOf(mc.pool, mc.slot) == "") {
				continue
			}
			if cost < 0 {
				cost = t.newCost()
			}
			if load := t.loadOf(host); len(load) > 0 && t.growTo(class, int32(i), st, load) && t.newCost() <= cost {
				return true
			}
			t.undo(before)
		}
	}
	return false
}

// undecided reports whether pods at the stage ask about labels that are not decided for the machine.
func (m *Model) undecided(stage int32, mc *machine) bool {
	as := assignment{labels: mc.labels}
	return slices.ContainsFunc(m.stages[stage].uses, func(u use) bool {
		f := &m.pools[u.pool].profiles[u.profile]
		return u.pool == mc.pool && !as.decides(f)
	})
}

// grow exchanges a new machine for a larger one of its pool that takes a pod of the class as well: the last resort, for
// pods that rules bind to a machine or a cell where nothing else can be bought.
func (t *Trial) grow(class int32) bool {
	m := t.m
	c := m.classes[class]
	loads := t.loads(0)
	for _, wishes := range []bool{true, false} {
		for i := range t.machines {
			mc := &t.machines[i]
			if mc.empty() || i < t.fresh || len(loads[i]) == 0 || !t.couldAdmit(c, int32(i)) || (t.awaitsReservation(c) && m.reservationOf(mc.pool, mc.slot) == "") {
				continue
			}
			if wishes && t.growAny(class, int32(i), loads[i]) || !wishes && t.growUnwished(class, int32(i)) {
				return true
			}
		}
	}
	return false
}

// growAny is growTo at the first of the class's stages that allows it.
func (t *Trial) growAny(class, i int32, load []binding) bool {
	return slices.ContainsFunc(t.stagesFor(t.m.classes[class]), func(st int32) bool { return t.growTo(class, i, st, load) })
}

// growUnwished is growAny for a machine whose pods give up wishes that bind them to machines like it: a wish costs no other
// pod its place.
func (t *Trial) growUnwished(class, i int32) bool {
	m := t.m
	mc := &t.machines[i]
	as := assignment{labels: mc.labels}
	before, host := t.Mark(), int32(len(m.nodes))+i
	for n := range t.placed {
		b := &t.placed[n]
		if b.host != host || b.count == 0 {
			continue
		}
		for _, st := range slices.Backward(t.stagesFor(m.classes[b.class])) {
			if m.stageAllows(st, mc.pool, int(mc.row), int(mc.slot), &as) {
				if st != b.stage {
					t.restage(int32(n), st)
				}
				break
			}
		}
	}
	if len(t.log) > before.log && t.growAny(class, i, t.loadOf(host)) {
		return true
	}
	t.undo(before)
	return false
}

// couldAdmit reports whether rules admit a pod of the class on new machine i, or might once labels are decided that they look
// at.
func (t *Trial) couldAdmit(c *class, i int32) bool {
	return t.admits(c, int32(len(t.m.nodes))+i) ||
		slices.ContainsFunc(t.stagesFor(c), func(st int32) bool { return t.m.undecided(st, &t.machines[i]) })
}

// growTo exchanges new machine i for one that takes a pod of the class at the stage as well, if there is one: for one that
// its commitment covers as well rather than for another.
func (t *Trial) growTo(class, i, stage int32, load []binding) bool {
	commitment := t.machines[i].commitment
	return t.growWithin(commitment, class, i, stage, load) || (commitment != 0 && t.growWithin(0, class, i, stage, load))
}

// growWithin is growTo for machines that the commitment covers; 0 for all.
func (t *Trial) growWithin(commitment, class, i, stage int32, load []binding) bool {
	m := t.m
	mc := &t.machines[i]
	host := int32(len(m.nodes)) + i
	other := *mc
	other.commitment = commitment
	other.used = slices.Clone(mc.used)
	addScaled(other.used, t.needOn(m.classes[class], host), 1)
	added := binding{class: class, host: host, count: 1, stage: stage, tight: t.tightly(class)}
	with := append(slices.Clone(load), added)
	// What the new pod asks for is looked at below, since the machine as it is may not meet it.
	with[len(load)].stage = load[0].stage
	for _, u := range m.stages[stage].uses {
		f := &m.pools[u.pool].profiles[u.profile]
		if u.pool != mc.pool {
			continue
		}
		other.labels = m.decideFor(m.pools[u.pool], mc.labels, f)
		if as := (assignment{labels: other.labels}); !as.allows(f) {
			continue
		}
		rows, slots, _ := t.leeway(&other, with)
		rows.and(f.rows)
		slots.and(f.slots)
		row, slot, price := m.cheapestWithin(&other, rows, slots, t.spare(mc))
		if row < 0 || m.reservationOf(mc.pool, slot) != m.reservationOf(mc.pool, mc.slot) {
			continue
		}
		before := t.Mark()
		other.row, other.slot, other.price = row, slot, price
		var domains []int32
		if t.topology != nil {
			domains = t.topology.hosts[host].domains
		}
		t.exchange(i, other)
		if !t.admits(m.classes[class], host) {
			t.undo(before)
			continue
		}
		t.place(added)
		if t.stillVaried(i, append(slices.Clone(load), added)) && !t.disturbs(host) && (domains == nil || !t.vacated(domains) || t.allVaried()) {
			return true
		}
		t.undo(before)
	}
	return false
}

// decideFor adds to the labels decided for a machine those that the profile asks for and nobody has cared about yet. Labels
// that rules can notice are decided when the machine is opened.
func (m *Model) decideFor(p *pool, labels requirements.Set, f *profile) requirements.Set {
	for _, r := range f.open {
		key := r.Key()
		if labels.Has(key) || slices.Contains(m.topologyKeys, key) {
			continue
		}
		wanted := p.template.Get(key)
		for _, o := range f.open {
			if o.Key() == key {
				wanted = wanted.Intersect(o)
			}
		}
		labels = labels.With(p.decide(key, wanted))
	}
	return labels
}

// stillVaried reports whether the types that would do for new machine i with the load are as varied as its pool's
// minValues ask for.
func (t *Trial) stillVaried(i int32, load []binding) bool {
	mc := &t.machines[i]
	p := t.m.pools[mc.pool]
	if !t.strictVariety(p) {
		return true
	}
	rows, slots, _ := t.leeway(mc, load)
	return t.m.varied(p, mc, rows, slots)
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
			if !fits(cl.requests, s.alloc) || (waits && !s.limited) || !t.affordable(s.pool, s.row) || !t.reservable(s.pool, s.row, s.slot) || !t.admitsAt(cl, s) || !t.variedAt(cl, s) {
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

// findVariedSite is a machine to buy for one pod of the class from a pool whose minValues no full machine would meet, but
// one with little on it does: other types hold that too.
func (t *Trial) findVariedSite(c *cells, class int32) *site {
	m := t.m
	if !slices.ContainsFunc(m.pools, t.strictVariety) {
		return nil
	}
	cl := m.classes[class]
	waits := t.awaitsReservation(cl)
	for _, st := range t.stagesFor(cl) {
		sites := t.listSites(c, st, 0, t.varied)
		for i := range sites {
			s := &sites[i]
			if t.strictVariety(m.pools[s.pool]) && t.couldBuy(cl, s, waits) {
				return s
			}
		}
		if s := t.findSplitSite(cl, st, waits); s != nil {
			return s
		}
	}
	return nil
}

// maxSplitSites bounds how many machines findSplitSite looks at.
const maxSplitSites = 256

// findSplitSite is findVariedSite where what a type holds depends on where it is bought: its claim names one zone and one
// capacity type, and a dearer way to buy may leave more types.
func (t *Trial) findSplitSite(cl *class, st int32, waits bool) *site {
	var list []site
	for _, pool := range slices.Sorted(maps.Keys(t.assigned[st])) {
		if p := t.m.pools[pool]; !p.table.split || !t.strictVariety(p) {
			continue
		}
		for a := range t.assigned[st][pool] {
			t.eachMachine(cl, st, pool, int32(a), func(s site) { list = append(list, s) })
		}
	}
	slices.SortStableFunc(list, func(a, b site) int { return compareOptions(&a.option, &b.option) })
	for i := range list[:min(len(list), maxSplitSites)] {
		if t.couldBuy(cl, &list[i], waits) {
			return &list[i]
		}
	}
	return nil
}

// couldBuy reports whether the machine may be bought for a pod of the class; waits tells that it must be on a reservation.
func (t *Trial) couldBuy(cl *class, s *site, waits bool) bool {
	return fits(cl.requests, s.alloc) && (!waits || s.limited) && t.affordable(s.pool, s.row) && t.reservable(s.pool, s.row, s.slot) &&
		t.admitsAt(cl, s) && t.variedAt(cl, s)
}

// variedAt reports whether one pod of the class on a machine yet to be bought leaves the variety that its pool asks for.
func (t *Trial) variedAt(cl *class, s *site) bool {
	if !t.strictVariety(t.m.pools[s.pool]) {
		return true
	}
	before := t.Mark()
	host := t.open(machine{pool: s.pool, row: s.row, slot: s.slot, price: s.price, labels: t.assigned[s.stage][s.pool][s.assign].labels})
	ok := t.keepsVariety(host, cl, s.stage)
	t.undo(before)
	return ok
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
	if row := &t.m.pools[s.pool].table.rows[s.row]; cl.topology == nil && row.resident == 0 && !t.breaksSpread(t.cells.list[s.cell]) {
		return true
	}
	before := t.Mark()
	host := t.open(machine{pool: s.pool, row: s.row, slot: s.slot, price: s.price, labels: t.assigned[s.stage][s.pool][s.assign].labels})
	ok := !t.disturbs(host) && t.admits(cl, host)
	t.undo(before)
	return ok
}
