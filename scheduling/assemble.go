package scheduling

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// Plan writes down what the trial has done so far, as Solve would: where the pods go that it has placed, those of hidden
// nodes among them, and why the others have no place. It changes nothing, so that a trial can be explained, rolled back and
// gone on with. A cancelled context ends it early with ctx.Err().
func (t *Trial) Plan(ctx context.Context) (*Plan, error) {
	out := &Plan{Notes: slices.Clone(t.m.notes)}
	q := newPodQueues(t)
	t.writeBindings(out, q)
	if t.topology != nil {
		t.topology.binding = true // what is refused was tried so in the end: see placeTightly
		defer func() { t.topology.binding = false }()
	}
	t.writeUnschedulable(out, q)
	if len(out.NewNodes) > 0 {
		pf := t.proofOf(ctx)
		out.LowerBound = pf.v.bound / nanoPerUSD
		out.Certificate = t.m.certificate(pf)
	}
	return out, ctx.Err()
}

// podQueues hands out the pods of each class one after another: first the snapshot's waiting ones, then those of hidden
// machines.
type podQueues struct {
	t    *Trial
	next []int
	// freed is indexed by class; nil when no machine is hidden.
	freed map[int32][]*corev1.Pod
}

func newPodQueues(t *Trial) *podQueues {
	q := &podQueues{t: t, next: make([]int, len(t.m.classes))}
	if len(t.freed) > 0 {
		q.freed = map[int32][]*corev1.Pod{}
		for _, p := range t.freed {
			q.freed[p.class] = append(q.freed[p.class], p.pod)
		}
	}
	return q
}

// take appends the next n pods of the class.
func (q *podQueues) take(into []PodKey, class int32, n int) []PodKey {
	pending := q.t.m.classes[class].pending
	for range n {
		i := q.next[class]
		q.next[class]++
		var pod *corev1.Pod
		if i < len(pending) {
			pod = q.t.m.pods[pending[i]]
		} else {
			pod = q.freed[class][i-len(pending)]
		}
		into = append(into, PodKey{pod.Namespace, pod.Name})
	}
	return into
}

// writeBindings lists the placed pods in the order they can be bound, and again host by host.
func (t *Trial) writeBindings(out *Plan, q *podQueues) {
	m := t.m
	total := 0
	counts := make([]int, len(m.nodes)+len(t.machines))
	for _, b := range t.placed {
		total += int(b.count)
		counts[b.host] += int(b.count)
	}
	out.Order = make([]PodKey, 0, total)
	flat := make([]PodKey, total)
	pods := make([][]PodKey, len(counts))
	loads := make([][]binding, len(t.machines))
	at := 0
	for host, n := range counts {
		pods[host] = flat[at : at : at+n]
		at += n
	}
	for _, b := range t.placed {
		from := len(out.Order)
		out.Order = q.take(out.Order, b.class, int(b.count))
		pods[b.host] = append(pods[b.host], out.Order[from:]...)
		if i := int(b.host) - len(m.nodes); i >= 0 {
			loads[i] = append(loads[i], b)
		}
	}
	for i := range m.nodes {
		if len(pods[i]) > 0 {
			out.Existing = append(out.Existing, ExistingNode{Name: m.nodes[i].name, Pods: pods[i]})
		}
	}
	slices.SortFunc(out.Existing, func(a, b ExistingNode) int { return cmp.Compare(a.Name, b.Name) })
	t.writeMachines(out, pods[len(m.nodes):], loads)
	t.writeRelaxations(out)
}

func (t *Trial) writeMachines(out *Plan, pods [][]PodKey, loads [][]binding) {
	m := t.m
	numbers := map[int32]int{}
	described := &descriptions{byLoad: map[string]description{}, offered: map[string][]rowOffer{}}
	var bought []boughtNode
	for i := range t.machines {
		mc := &t.machines[i]
		if len(pods[i]) == 0 {
			continue // none of its pods was admitted
		}
		numbers[mc.pool]++
		node := NewNode{
			Name: fmt.Sprintf("%s-%d", m.pools[mc.pool].key, numbers[mc.pool]),
			Pool: m.pools[mc.pool].key,
			Pods: pods[i],
		}
		d := t.describe(&node, mc, loads[i], described)
		out.NewNodes = append(out.NewNodes, node)
		if m.standings != nil {
			bought = append(bought, boughtNode{mc, d, described.offered[d.offers]})
		}
	}
	t.writeCommitments(out, bought)
	cost := int64(0)
	for i := range out.NewNodes {
		cost += nanoUSD(out.NewNodes[i].InstanceTypes[0].Price)
	}
	out.HourlyCost = float64(cost) / nanoPerUSD
}

// description is what machines with the same demands on them and the same load have in common.
type description struct {
	options []InstanceTypeOption
	claim   requirements.Set
	// row and slot of the first option.
	row, slot int
	// offers is the key of what it was chosen from.
	offers string
}

// descriptions are those made so far, by demands and load, and what the machines of the same demands could be, whatever
// their load.
type descriptions struct {
	byLoad  map[string]description
	offered map[string][]rowOffer
	scratch []InstanceTypeOption
	key     []byte // scratch
	// most is how many types are listed for machines of pools that don't ask for variety; 0 for all.
	most int
}

// rowOffer is a row with its cheapest offering among the slots that would do.
type rowOffer struct {
	row, slot int
	option    InstanceTypeOption
}

// describe fills in a new node's requirements, types and amounts.
func (t *Trial) describe(node *NewNode, mc *machine, loads []binding, described *descriptions) description {
	m := t.m
	p := m.pools[mc.pool]
	c := p.table.catalog
	rows, slots, claim := t.leeway(mc, loads)
	offers := profileText(rows, slots, nil) + strconv.Itoa(int(mc.pool))
	key := append(append(described.key[:0], offers...), claim.String()...)
	for _, n := range mc.used {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(mc.row))
	if m.standings != nil {
		key = binary.LittleEndian.AppendUint32(key, uint32(mc.slot))
	}
	described.key = key
	d, ok := described.byLoad[string(described.key)]
	if !ok {
		if described.offered[offers] == nil {
			described.offered[offers] = m.rowOffers(p, rows, slots)
		}
		described.scratch = m.optionsFor(described.scratch[:0], p, mc, described.offered[offers])
		own := m.ownFirst(described.scratch, p, mc)
		if n := described.most; n > 0 && n < len(described.scratch) && len(p.variety) == 0 {
			described.scratch = described.scratch[:n]
		}
		d.options = slices.Clone(described.scratch)
		d.claim = m.claimRequirements(c, claim, p.template.Merge(mc.labels), slots)
		d.row = m.rowOf(p, d.options[0].Name, mc, rows, slots)
		d.slot, _ = c.cheapest(p.table.rows[d.row].variant, p.table.rows[d.row].slots, slots)
		if own {
			d.row, d.slot = int(mc.row), int(mc.slot)
		}
		d.offers = offers
		described.byLoad[string(described.key)] = d
	}
	node.InstanceTypes, node.Requirements = d.options, d.claim
	node.MinValuesRelaxed = len(p.variety) > 0 && !m.varied(p, mc, rows, slots)
	used := slices.Clone(mc.used)
	dims := m.resources.len()
	addScaled(used, p.table.daemons[d.row*dims:(d.row+1)*dims], 1)
	node.Requests = m.resources.list(used)
	node.Allocatable = canonical(c.variants[p.table.rows[d.row].variant].allocatable)
	return d
}

// leeway is which machines of the pool would do for the machine's pods, and what its claim says. Where topology rules
// have taken notice of what is on the machine, only machines of the same domains, with the same DaemonSets and the same
// labels that these rules look at, would do.
func (t *Trial) leeway(mc *machine, loads []binding) (rows, slots bitset, claim requirements.Set) {
	m := t.m
	p := m.pools[mc.pool]
	rows, slots = p.rows.clone(), p.slots.clone()
	claim = p.template.Merge(mc.labels)
	var stakes []*ownership
	seen := map[int32]bool{}
	for _, b := range loads {
		if o := m.classes[b.class].topology; o != nil && !slices.Contains(stakes, o) {
			stakes = append(stakes, o)
		}
		if seen[b.stage] {
			continue
		}
		seen[b.stage] = true
		f := m.profileFor(b.stage, mc)
		rows.and(f.rows)
		slots.and(f.slots)
		claim = claim.Merge(f.demand.set())
	}
	claim = claim.Merge(t.keepAlike(mc, rows, slots, stakes))
	claim = claim.Merge(m.stayOut(mc, claim))
	// The planned machine itself would do, whatever the labels that are not decided yet.
	rows.set(int(mc.row))
	slots.set(int(mc.slot))
	return rows, slots, claim
}

// keepAlike narrows the machines that would do for the pods of mc to those that may stand in for it: with its labels,
// of its reservation or of none, and where rules could take notice of pods with the stakes, in the same domains. It returns
// the labels that say so. Where that leaves less variety than the pool asks for, pods' wishes don't stand in the way.
func (t *Trial) keepAlike(mc *machine, rows, slots bitset, stakes []*ownership) (claim requirements.Set) {
	m := t.m
	p := m.pools[mc.pool]
	for _, class := range p.table.rows[mc.row].residents {
		stakes = append(stakes, m.classes[class].topology)
	}
	all := m.noticedBy(stakes, true)
	if len(p.variety) == 0 {
		return t.keepNoticed(mc, rows, slots, all)
	}
	hard := m.noticedBy(stakes, false)
	if len(hard) == len(all) {
		return t.keepNoticed(mc, rows, slots, all)
	}
	narrowRows, narrowSlots, wideRows, wideSlots := rows.clone(), slots.clone(), rows.clone(), slots.clone()
	claim = t.keepNoticed(mc, narrowRows, narrowSlots, all)
	if !m.varied(p, mc, narrowRows, narrowSlots) {
		wide := t.keepNoticed(mc, wideRows, wideSlots, hard)
		if m.varied(p, mc, wideRows, wideSlots) {
			narrowRows, narrowSlots, claim = wideRows, wideSlots, wide
		}
	}
	copy(rows, narrowRows)
	copy(slots, narrowSlots)
	return claim
}

// keepNoticed is keepAlike for the given labels by which rules take notice of the machine's pods.
func (t *Trial) keepNoticed(mc *machine, rows, slots bitset, pinned []string) (claim requirements.Set) {
	m := t.m
	p := m.pools[mc.pool]
	c := p.table.catalog
	for r := range mc.labels.All {
		if _, stated := c.typeKeys[r.Key()]; stated {
			m.narrow(p, r, rows, slots)
		}
	}
	if reserved := c.slots[mc.slot].reservation; reserved != "" {
		// A machine counted against a reservation must be bought from it (SCH-163).
		for s := range slots.members {
			if c.slots[s].reservation != reserved {
				slots.clear(s)
			}
		}
		claim = c.slots[mc.slot].drawsOn
	} else {
		for s := range slots.members {
			if c.slots[s].reservation != "" {
				slots.clear(s)
			}
		}
	}
	if t.topology != nil {
		as := assignment{labels: mc.labels}
		for _, key := range pinned {
			claim = claim.Merge(m.keepLabel(mc, &as, key, rows, slots))
		}
		claim = claim.Merge(t.stayKnown(mc, &as, pinned, rows, slots))
		resident := p.table.rows[mc.row].resident
		for r := range rows.members {
			if p.table.rows[r].resident != resident {
				rows.clear(r) // DaemonSet pods that rules notice must not turn up where the plan has none, nor be missing
			}
		}
	}
	m.keepCovered(mc, rows, slots)
	m.keepProduct(p, mc, slots)
	return claim
}

// keepProduct narrows the slots to what a claim can say: some zones, some capacity types, and every combination of them
// that is sold. Where not all combinations will do, or what a type holds depends on where it is bought, the zone and
// capacity type of the plan are all that is left.
func (m *Model) keepProduct(p *pool, mc *machine, slots bitset) {
	c := p.table.catalog
	bought := &c.slots[mc.slot]
	if !p.table.split && isProduct(c, slots) {
		return
	}
	keep := func(same func(s *slot) bool) bitset {
		out := slots.clone()
		for s := range slots.members {
			if !same(&c.slots[s]) {
				out.clear(s)
			}
		}
		return out
	}
	if !p.table.split {
		for _, narrowed := range []bitset{
			keep(func(s *slot) bool { return s.capacityType == bought.capacityType }),
			keep(func(s *slot) bool { return s.zone == bought.zone }),
		} {
			if isProduct(c, narrowed) {
				copy(slots, narrowed)
				return
			}
		}
	}
	copy(slots, keep(func(s *slot) bool { return s.zone == bought.zone && s.capacityType == bought.capacityType }))
}

// isProduct reports whether the slots are all those of the catalog whose zone and capacity type are among theirs. Of
// reservations the claim names its own.
func isProduct(c *catalog, slots bitset) bool {
	zones, types, reservations := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for s := range slots.members {
		zones[c.slots[s].zone], types[c.slots[s].capacityType], reservations[c.slots[s].reservation] = true, true, true
	}
	for s := range c.slots {
		if !slots.has(s) && zones[c.slots[s].zone] && types[c.slots[s].capacityType] && reservations[c.slots[s].reservation] {
			return false
		}
	}
	return true
}

// noticedBy are the labels by which rules that pods with the stakes state, or that count them, tell machines apart. Rules
// that may be broken are left out unless wishes are asked for too.
func (m *Model) noticedBy(stakes []*ownership, wishes bool) []string {
	var keys []string
	for _, o := range stakes {
		for _, groups := range [][]int32{o.owns, o.in} {
			for _, g := range groups {
				if !wishes && !m.topology[g].hard {
					continue
				}
				for _, key := range m.topology[g].tells {
					if !slices.Contains(keys, key) {
						keys = append(keys, key)
					}
				}
			}
		}
	}
	return keys
}

// stayKnown narrows rows and slots of a machine so that rules which don't concern its pods go on as they do: it can't bring
// a domain that spreads of the plan don't reckon with. Where the machine is planned and where others are already, it may be.
// It returns the labels that say so. Those pinned are decided.
func (t *Trial) stayKnown(mc *machine, as *assignment, pinned []string, rows, slots bitset) requirements.Set {
	m := t.m
	p := m.pools[mc.pool]
	c := p.table.catalog
	var kept requirements.Set
	for at, key := range m.topologyKeys {
		_, stated := c.typeKeys[key]
		if (!stated && !c.offeringKeys[key]) || slices.Contains(pinned, key) || !m.spreadBy(at) {
			continue
		}
		v := m.machineLabel(mc.pool, int(mc.row), int(mc.slot), as, key)
		if v == "" {
			// Spreads that pass over machines without it would take notice of one that has it.
			kept = kept.Merge(m.keepLabel(mc, as, key, rows, slots))
			continue
		}
		values := []string{v}
		for other, d := range t.topology.domains[at] {
			if other != v && t.knownEverywhere(at, d) {
				values = append(values, other)
			}
		}
		r := requirements.In(key, values...)
		m.narrow(p, r, rows, slots)
		kept = kept.With(r)
	}
	for _, key := range m.filteredBy(mc, as) {
		if !slices.Contains(pinned, key) {
			kept = kept.Merge(m.keepLabel(mc, as, key, rows, slots))
		}
	}
	return kept
}

// filteredBy are the labels by which spreads that must be kept pass the machine over: were one of them another, it could
// be an empty domain of theirs (SCH-120). So are those by which spreads that ask for several domains take notice of it.
func (m *Model) filteredBy(mc *machine, as *assignment) []string {
	var keys []string
	var labels *requirements.Set
	for g := range m.topology {
		group := &m.topology[g]
		if group.kind != kindSpread || !group.hard || group.filter.terms == nil {
			continue
		}
		if labels == nil {
			all := m.knownLabels(mc, as)
			labels = &all
		}
		if group.minDomains <= 1 && anySureBy(group.filter.terms, *labels) {
			continue
		}
		for _, term := range group.filter.terms {
			for _, r := range term {
				keys = append(keys, r.Key())
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// stayOut decides labels that the pool leaves open so that spreads which pass the machine over for want of them go on
// doing so: of the values that the claim allows the first that none of their filters asks for.
func (m *Model) stayOut(mc *machine, claim requirements.Set) (decided requirements.Set) {
	as := assignment{labels: mc.labels}
	for _, key := range m.filteredBy(mc, &as) {
		open := claim.Get(key)
		if !claim.Has(key) || open.Complement() || len(open.Values()) < 2 || m.machineLabel(mc.pool, int(mc.row), int(mc.slot), &as, key) != "" {
			continue
		}
		labels := m.knownLabels(mc, &as).Merge(decided)
		for _, v := range open.Values() {
			if r := requirements.In(key, v); !m.takesNotice(labels, labels.With(r)) {
				decided = decided.With(r)
				break
			}
		}
	}
	return decided
}

// takesNotice reports whether a spread that must be kept passes over a machine with the first labels and not with the
// second.
func (m *Model) takesNotice(before, after requirements.Set) bool {
	return slices.ContainsFunc(m.topology, func(g topologyGroup) bool {
		return g.kind == kindSpread && g.hard && g.filter.terms != nil && !anySureBy(g.filter.terms, before) && anySureBy(g.filter.terms, after)
	})
}

// keepLabel narrows rows and slots to the machines that have the planned one's value of the label, or lack it if that
// does, and returns the label.
func (m *Model) keepLabel(mc *machine, as *assignment, key string, rows, slots bitset) (kept requirements.Set) {
	p := m.pools[mc.pool]
	c := p.table.catalog
	if _, stated := c.typeKeys[key]; !stated && !c.offeringKeys[key] {
		return kept
	}
	r := requirements.DoesNotExist(key)
	if v := m.machineLabel(mc.pool, int(mc.row), int(mc.slot), as, key); v != "" {
		r = requirements.In(key, v)
		kept = kept.With(r)
	}
	m.narrow(p, r, rows, slots)
	return kept
}

// spreadBy reports whether any spread that must be kept is over the topology key.
func (m *Model) spreadBy(at int) bool {
	return slices.ContainsFunc(m.topology, func(g topologyGroup) bool { return g.kind == kindSpread && g.hard && g.at == at })
}

// knownEverywhere reports whether all such spreads have machines in the domain.
func (t *Trial) knownEverywhere(at int, d int32) bool {
	for g := range t.m.topology {
		group := &t.m.topology[g]
		if group.kind == kindSpread && group.hard && group.at == at && (group.minDomains > 1 || countAt(t.topology.present[g], d) == 0) {
			return false
		}
	}
	return true
}

// machineLabels are the labels that are decided for a new machine, as far as any rule or pod asks about them.
func (m *Model) machineLabels(mc *machine, as *assignment) requirements.Set {
	labels := map[string]string{}
	for key := range m.askedKeys {
		if v := m.machineLabel(mc.pool, int(mc.row), int(mc.slot), as, key); v != "" {
			labels[key] = v
		}
	}
	return requirements.FromLabels(labels)
}

// knownLabels are machineLabels with what is known of labels that are not decided.
func (m *Model) knownLabels(mc *machine, as *assignment) requirements.Set {
	return m.withOpen(m.machineLabels(mc, as), m.pools[mc.pool], int(mc.row), as)
}

// withOpen adds to the labels decided for a machine of the pool what is known of those that are left open: one that must be
// a or b will be there, and spreads that ask for no more than that take notice of the machine.
func (m *Model) withOpen(labels requirements.Set, p *pool, row int, as *assignment) requirements.Set {
	c := p.table.catalog
	for key := range m.askedKeys {
		if labels.Has(key) || as.labels.Has(key) || !m.leftOpen(p, key) {
			continue
		}
		known := p.template.Get(key)
		if _, stated := c.typeKeys[key]; stated {
			own := c.types[c.variants[p.table.rows[row].variant].typ].Requirements
			if !own.Has(key) {
				continue
			}
			known = known.Intersect(own.Get(key))
		}
		labels = labels.With(known)
	}
	return labels
}

// profileFor is the alternative of the stage under which the machine takes the stage's pods.
func (m *Model) profileFor(stage int32, mc *machine) *profile {
	as := assignment{labels: mc.labels}
	for _, u := range m.stages[stage].uses {
		if u.pool != mc.pool {
			continue
		}
		if f := &m.pools[u.pool].profiles[u.profile]; f.rows.has(int(mc.row)) && f.slots.has(int(mc.slot)) && as.allows(f) {
			return f
		}
	}
	return &profile{rows: m.pools[mc.pool].rows, slots: m.pools[mc.pool].slots}
}

// rowOffers lists the rows that can be bought in one of the slots, each with its cheapest offering there, cheapest first.
func (m *Model) rowOffers(p *pool, rows, slots bitset) []rowOffer {
	t, c := p.table, p.table.catalog
	var out []rowOffer
	for r := range rows.members {
		slot, price := c.cheapest(t.rows[r].variant, t.rows[r].slots, slots)
		if slot < 0 {
			continue
		}
		name := c.types[c.variants[t.rows[r].variant].typ].Name
		out = append(out, rowOffer{r, slot, m.optionAt(c, name, t.rows[r].variant, slot, price)})
	}
	slices.SortFunc(out, func(a, b rowOffer) int {
		return cmp.Or(cmp.Compare(a.option.Price, b.option.Price), cmp.Compare(a.option.Name, b.option.Name), cmp.Compare(a.row, b.row))
	})
	return out
}

// optionAt is a variant, of the type named, as it is sold in a slot.
func (m *Model) optionAt(c *catalog, name string, variant, slot int, price int64) InstanceTypeOption {
	s := &c.slots[slot]
	out := InstanceTypeOption{Name: name, Zone: s.zone, CapacityType: s.capacityType, Others: s.others, Price: float64(price) / nanoPerUSD}
	if c.costs != nil {
		out.Terms = c.lines(variant, slot, nil)
	}
	return out
}

// optionsFor appends to out the instance types that hold the machine's pods, cheapest first, each with its cheapest
// offering. A type that would take more from the pool's limits than the planned one is left out.
func (m *Model) optionsFor(out []InstanceTypeOption, p *pool, mc *machine, offers []rowOffer) []InstanceTypeOption {
	t, dims := p.table, m.resources.len()
	var most []int64
	if p.limits != nil {
		most = p.rowCost(int(mc.row))
	}
	for i := range offers {
		o := &offers[i]
		if !fits(mc.used, t.allocOf(o.row, dims)) || (most != nil && !fits(p.rowCost(o.row), most)) {
			continue
		}
		// Of a type's rows the cheapest counts. Without splits each type has but one.
		if t.split && slices.ContainsFunc(out, func(have InstanceTypeOption) bool { return have.Name == o.option.Name }) {
			continue
		}
		out = append(out, o.option)
	}
	return out
}

// ownFirst puts the machine itself first among the options if none is cheaper, and reports whether it did. Commitments cover
// some machines and not others of the same price, and the trial has reckoned with this one.
func (m *Model) ownFirst(options []InstanceTypeOption, p *pool, mc *machine) bool {
	if m.standings == nil || len(options) == 0 {
		return false
	}
	c, variant := p.table.catalog, p.table.rows[mc.row].variant
	name := c.types[c.variants[variant].typ].Name
	own := m.optionAt(c, name, variant, int(mc.slot), c.price(variant, int(mc.slot)))
	at := slices.IndexFunc(options, func(o InstanceTypeOption) bool { return o.Name == name })
	if at < 0 || own.Price != options[0].Price {
		return false
	}
	copy(options[1:at+1], options[:at])
	options[0] = own
	return true
}

// cheapestMachine is the cheapest row and slot of those given that hold the machine's pods and take no more from the
// pool's limits; row -1 if there is none.
func (m *Model) cheapestMachine(mc *machine, rows, slots bitset) (row, slot int32, price int64) {
	if p := m.pools[mc.pool]; p.limits != nil {
		return m.cheapestWithin(mc, rows, slots, p.rowCost(int(mc.row)))
	}
	return m.cheapestWithin(mc, rows, slots, nil)
}

// cheapestWithin is cheapestMachine with the most it may take from the pool's limits given; nil for any amount.
func (m *Model) cheapestWithin(mc *machine, rows, slots bitset, most []int64) (row, slot int32, price int64) {
	p := m.pools[mc.pool]
	t, c := p.table, p.table.catalog
	row, slot, price = -1, -1, noPrice
	dims := m.resources.len()
	for r := range rows.members {
		if !fits(mc.used, t.allocOf(r, dims)) {
			continue
		}
		if s, at := c.cheapest(t.rows[r].variant, t.rows[r].slots, slots); s >= 0 && at < price && (most == nil || fits(p.rowCost(r), most)) {
			row, slot, price = int32(r), int32(s), at
		}
	}
	return row, slot, price
}

// cheapest is the variant's cheapest slot among those of both sets, the first of equals; -1 if there is none.
func (c *catalog) cheapest(variant int, a, b bitset) (slot int, price int64) {
	slot, price = -1, noPrice
	prices := c.pricesOf(variant)
	for i, w := range a {
		for w &= b[i]; w != 0; w &= w - 1 {
			if s := i<<6 + bits.TrailingZeros64(w); prices[s] < price {
				slot, price = s, prices[s]
			}
		}
	}
	return slot, price
}

// rowOf is the row behind the first option of the list.
func (m *Model) rowOf(p *pool, name string, mc *machine, rows, slots bitset) int {
	t, c := p.table, p.table.catalog
	at, best := int(mc.row), int64(noPrice)
	for r := range rows.members {
		if c.types[c.variants[t.rows[r].variant].typ].Name != name || !fits(mc.used, t.allocOf(r, m.resources.len())) {
			continue
		}
		if _, price := c.cheapest(t.rows[r].variant, t.rows[r].slots, slots); price < best {
			at, best = r, price
		}
	}
	return at
}

// claimRequirements are the claim's, with the keys of offerings narrowed to the values that the remaining slots have.
// known are the labels that the pool and the plan state.
func (m *Model) claimRequirements(c *catalog, claim, known requirements.Set, slots bitset) requirements.Set {
	for _, key := range []string{corev1.LabelTopologyZone, labelCapacityType} {
		var values []string
		for s := range slots.members {
			if v := onlyValue(c.slots[s].labels.Get(key)); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			claim = claim.With(requirements.In(key, values...))
		}
	}
	for _, key := range claim.Keys() {
		// Pods may ask that a label be absent, or not have some value, that nobody but pods knows: machines lack it.
		_, stated := c.typeKeys[key]
		if r := claim.Get(key); !known.Has(key) && !stated && !c.offeringKeys[key] && absentMeets(r) {
			claim = claim.With(requirements.DoesNotExist(key))
		}
	}
	return claim
}
