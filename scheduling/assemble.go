package scheduling

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Plan writes down what the trial has done so far, as Solve would: where the pods go that it has placed, those of hidden
// nodes among them, and why the others have no place. It changes nothing, so that a trial can be explained, rolled back and
// gone on with. A cancelled context ends it early with ctx.Err().
func (t *Trial) Plan(ctx context.Context) (*Plan, error) {
	out := &Plan{Notes: slices.Clone(t.m.c.Notes)}
	q := newPodQueues(t)
	t.writeBindings(out, q)
	if t.s.Topology != nil {
		t.s.Topology.Binding = true // what is refused was tried so in the end: see placeTightly
		defer func() { t.s.Topology.Binding = false }()
	}
	t.writeUnschedulable(out, q)
	if len(out.NewNodes) > 0 {
		pf := t.counted(ctx, t.proofOf(ctx))
		out.LowerBound = pf.v.Bound / market.NanoPerUSD
		out.Certificate = t.m.certificate(pf)
	}
	return out, ctx.Err()
}

// podQueues hands out the pods of each class one after another: first the snapshot's waiting ones, then those of hidden
// nodes.
type podQueues struct {
	t    *Trial
	next []int
	// freed is indexed by class; nil when no node is hidden.
	freed map[int32][]*corev1.Pod
}

func newPodQueues(t *Trial) *podQueues {
	q := &podQueues{t: t, next: make([]int, len(t.m.c.Classes))}
	if len(t.s.Freed) > 0 {
		q.freed = map[int32][]*corev1.Pod{}
		for _, p := range t.s.Freed {
			q.freed[p.Class] = append(q.freed[p.Class], p.Pod)
		}
	}
	return q
}

// take appends the next n pods of the class.
func (q *podQueues) take(into []PodKey, class int32, n int) []PodKey {
	for range n {
		pod := q.one(class)
		into = append(into, PodKey{Namespace: pod.Namespace, Name: pod.Name})
	}
	return into
}

// one takes the next pod of the class.
func (q *podQueues) one(class int32) *corev1.Pod {
	pending := q.t.m.c.Classes[class].Pending
	i := q.next[class]
	q.next[class]++
	if i < len(pending) {
		return q.t.m.c.Pods[pending[i]]
	}
	return q.freed[class][i-len(pending)]
}

// writeBindings lists the placed pods in the order they can be bound, and again host by host.
func (t *Trial) writeBindings(out *Plan, q *podQueues) {
	m := t.m
	total := 0
	counts := make([]int, len(m.c.Nodes)+len(t.s.Planned))
	for _, b := range t.s.Placed {
		total += int(b.Count)
		counts[b.Host] += int(b.Count)
	}
	out.Order = make([]PodKey, 0, total)
	flat := make([]PodKey, total)
	pods := make([][]PodKey, len(counts))
	loads := make([][]state.Binding, len(t.s.Planned))
	at := 0
	for host, n := range counts {
		pods[host] = flat[at : at : at+n]
		at += n
	}
	for _, b := range t.bindOrder() {
		from := len(out.Order)
		out.Order = q.take(out.Order, b.Class, int(b.Count))
		pods[b.Host] = append(pods[b.Host], out.Order[from:]...)
		if i := int(b.Host) - len(m.c.Nodes); i >= 0 {
			loads[i] = append(loads[i], b)
		}
	}
	for i := range m.c.Nodes {
		if len(pods[i]) > 0 {
			out.Existing = append(out.Existing, ExistingNode{Name: m.c.Nodes[i].Name, Pods: pods[i]})
		}
	}
	slices.SortFunc(out.Existing, func(a, b ExistingNode) int { return cmp.Compare(a.Name, b.Name) })
	t.writeNodes(out, pods[len(m.c.Nodes):], loads)
	t.noteChoices(out, loads)
	t.writeRelaxations(out)
}

func (t *Trial) writeNodes(out *Plan, pods [][]PodKey, loads [][]state.Binding) {
	m := t.m
	numbers := map[int32]int{}
	described := newDescriptions()
	described.spare = t.spareLimits(func(i int) bool { return len(pods[i]) > 0 })
	var bought []boughtNode
	admission := t.newDeviceAdmission()
	for i := range t.s.Planned {
		mc := &t.s.Planned[i]
		if len(pods[i]) == 0 {
			continue // none of its pods was admitted
		}
		numbers[mc.Pool]++
		node := NewNode{
			Name: fmt.Sprintf("%s-%d", m.c.Pools[mc.Pool].Key, numbers[mc.Pool]),
			Pool: m.c.Pools[mc.Pool].Key,
			Pods: pods[i],
		}
		d := t.describe(&node, mc, loads[i], described)
		if admission != nil {
			admission.narrow(&node, mc.Pool, loads[i])
		}
		out.NewNodes = append(out.NewNodes, node)
		if m.c.Standings != nil {
			bought = append(bought, boughtNode{mc, d})
		}
	}
	t.writeCommitments(out, bought)
	cost := int64(0)
	for i := range out.NewNodes {
		cost += market.NanoUSD(out.NewNodes[i].InstanceTypes[0].Price)
	}
	out.HourlyCost = float64(cost) / market.NanoPerUSD
}

// description is what nodes with the same demands on them and the same load have in common.
type description struct {
	options []InstanceTypeOption
	claim   requirements.Set
	// row and slot of the first option.
	row, slot int
	// requests of the pods and of what comes with the node.
	requests corev1.ResourceList
	// offers are what it was chosen from.
	offers *offersOf
}

// descriptions are those made so far, by demands and load, and what the nodes of the same demands could be, whatever
// their load.
type descriptions struct {
	byLoad  map[string]description
	offered map[string]*offersOf
	// allocatable is shared by nodes whose first option is of one variant; nil where each has its own.
	allocatable map[variantOf]corev1.ResourceList
	scratch     []InstanceTypeOption
	key         []byte // scratch
	// spare is indexed by pool, then like its limits: see spareLimits. Nil gives no node more than its planned type takes.
	spare [][]int64
	// most is how many types are listed for nodes of pools that don't ask for variety; 0 for all.
	most int
}

func newDescriptions() *descriptions {
	return &descriptions{byLoad: map[string]description{}, offered: map[string]*offersOf{}}
}

// offersOf are what nodes of the same demands could be, cheapest first, and what claims for them say.
type offersOf struct {
	key  string
	rows []rowOffer
	// room is where the next options of rows go.
	room   []InstanceTypeOption
	claims []nodeClaim
	// forgotten counts claims that are not remembered any more.
	forgotten int
}

// mostClaims is how many claims are remembered for the same offers.
const mostClaims = 64

// nodeClaim is what the claim of a node with certain labels says, before and after it is told what is left to buy.
type nodeClaim struct{ labels, before, after requirements.Set }

type variantOf struct {
	catalog *market.Catalog
	variant int
}

// rowOffer is a row with its cheapest offering among the slots that would do, and its price there.
type rowOffer struct {
	row, slot int32
	price     int64
	// option that it is; nil until somebody asks.
	option *InstanceTypeOption
}

// describe fills in a new node's requirements, types and amounts.
func (t *Trial) describe(node *NewNode, mc *state.Node, loads []state.Binding, described *descriptions) description {
	m := t.m
	p := m.c.Pools[mc.Pool]
	c := p.Table.Catalog
	rows, slots, claim := t.allowed(mc, loads)
	offers := described.offersFor(m, mc, rows, slots)
	says, number := offers.claimFor(m, mc, claim, slots)
	key := binary.LittleEndian.AppendUint32(append(described.key[:0], offers.key...), uint32(number))
	for _, n := range mc.Used {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(mc.Row))
	key = binary.LittleEndian.AppendUint32(key, uint32(described.most))
	if m.c.Standings != nil {
		key = binary.LittleEndian.AppendUint32(key, uint32(mc.Slot))
	}
	described.key = key
	d, ok := described.byLoad[string(described.key)]
	if !ok {
		most := described.most
		if most == 0 || len(p.Variety) > 0 {
			most = math.MaxInt
		}
		var spare []int64
		if described.spare != nil {
			spare = described.spare[mc.Pool]
		}
		described.scratch = m.optionsFor(described.scratch[:0], p, mc, spare, offers, most)
		own := m.ownFirst(described.scratch, p, mc)
		described.scratch = described.scratch[:min(most, len(described.scratch))]
		d.options = slices.Clone(described.scratch)
		d.claim = says
		d.row = m.rowOf(p, d.options[0].Name, mc, offers.rows)
		d.slot, _ = c.Cheapest(p.Table.Rows[d.row].Variant, p.Table.Rows[d.row].Slots, slots)
		if own {
			d.row, d.slot = int(mc.Row), int(mc.Slot)
		}
		d.offers = offers
		used := slices.Clone(mc.Used)
		dims := m.c.Resources.Len()
		resources.AddScaled(used, p.Table.Taken[d.row*dims:(d.row+1)*dims], 1)
		d.requests = m.c.Resources.List(used)
		m.c.Devices.ServedBy(c.Types, d.options, d.requests)
		described.byLoad[string(described.key)] = d
	}
	node.InstanceTypes, node.Requirements = d.options, d.claim
	node.MinValuesRelaxed = len(p.Variety) > 0 && !p.VariedFor(mc.Row, mc.Used, rows, slots)
	node.Requests = d.requests
	node.Allocatable = described.allocatableOf(c, p.Table.Rows[d.row].Variant)
	return d
}

// offersFor are those in the rows and slots of the node's pool.
func (d *descriptions) offersFor(m *Model, mc *state.Node, rows, slots bitset.Set) *offersOf {
	d.key = d.key[:0]
	for _, set := range []bitset.Set{rows, slots} {
		for _, w := range set {
			d.key = binary.LittleEndian.AppendUint64(d.key, w)
		}
	}
	d.key = binary.LittleEndian.AppendUint32(d.key, uint32(mc.Pool))
	offers := d.offered[string(d.key)]
	if offers == nil {
		offers = &offersOf{key: string(d.key), rows: m.rowOffers(m.c.Pools[mc.Pool], rows, slots)}
		d.offered[offers.key] = offers
	}
	return offers
}

// claimFor is what the node's claim says, with a number by which it is told from others of the same offers.
func (o *offersOf) claimFor(m *Model, mc *state.Node, claim requirements.Set, slots bitset.Set) (says requirements.Set, number int) {
	at := slices.IndexFunc(o.claims, func(c nodeClaim) bool { return c.before.Equal(claim) && c.labels.Equal(mc.Labels) })
	if at < 0 {
		if len(o.claims) == mostClaims {
			o.forgotten += len(o.claims)
			o.claims = o.claims[:0]
		}
		p := m.c.Pools[mc.Pool]
		at = len(o.claims)
		o.claims = append(o.claims, nodeClaim{mc.Labels, claim, nodepool.Claim(p.Table.Catalog, claim, p.Template.Merge(mc.Labels), slots)})
	}
	return o.claims[at].after, o.forgotten + at
}

func (d *descriptions) allocatableOf(c *market.Catalog, variant int) corev1.ResourceList {
	list, known := d.allocatable[variantOf{c, variant}]
	if !known {
		list = resources.Canonical(c.Variants[variant].Allocatable)
		if d.allocatable != nil {
			d.allocatable[variantOf{c, variant}] = list
		}
	}
	return list
}
