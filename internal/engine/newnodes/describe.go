package newnodes

import (
	"encoding/binary"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Description contains the properties that are equal for all nodes with the same demands and the same load.
type Description struct {
	options []planning.InstanceTypeOption
	claim   requirements.Set
	// row and slot identify the first listed instance type: row is its index in the pool's table, and slot is the index of its offering's
	// slot in the catalog.
	row, slot int
	// requests is the sum of the requests of all pods on the node, including DaemonSet pods.
	requests corev1.ResourceList
	// offers are the offers from which the first listed instance type was chosen.
	offers *offersOf
}

// Descriptions caches descriptions by demands and load. It also caches the possible nodes for equal demands; these do not depend on the
// load.
type Descriptions struct {
	byLoad  map[string]Description
	offered map[string]*offersOf
	// allocatable has one list of amounts for each variant of an instance type. Nodes whose first listed instance type has the same variant
	// share this list. If allocatable is nil, each node gets a list of its own.
	allocatable map[variantOf]corev1.ResourceList
	scratch     []planning.InstanceTypeOption
	key         []byte // scratch
	// Spare has the amounts of the pool's limits that a node may use in addition to its planned type: see SpareLimits. It is indexed by
	// pool, and then like the pool's limits. If it is nil, no node may use more of the limits than its planned type.
	Spare [][]int64
	// The field most is the maximum number of types that are listed for nodes of pools without minValues; 0 means all types.
	most int
}

// NewDescriptions returns an empty cache.
func NewDescriptions() *Descriptions {
	return &Descriptions{byLoad: map[string]Description{}, offered: map[string]*offersOf{}}
}

// NewShared returns an empty cache that several plans can use, one after another. A variant is an instance type with one list of
// allocatable amounts. Nodes whose first listed instance type has the same variant share this list.
func NewShared() *Descriptions {
	d := NewDescriptions()
	d.allocatable = map[variantOf]corev1.ResourceList{}
	return d
}

// mostDescribed is the maximum number of cached descriptions.
const mostDescribed = 4096

// Begin sets the number of types that are listed from now on for pools without minValues; 0 means all types. If the cache has become very
// large, Begin empties it.
func (d *Descriptions) Begin(types int) {
	if len(d.byLoad) > mostDescribed {
		clear(d.byLoad)
	}
	d.most = types
}

// offersOf contains the offers for nodes with equal demands, cheapest first, and the requirements of the NodeClaims for these nodes.
type offersOf struct {
	key  string
	rows []rowOffer
	// room is the memory in which the next options are stored.
	room   []planning.InstanceTypeOption
	claims []nodeClaim
	// forgotten counts the claims that were removed from the cache.
	forgotten int
}

// mostClaims is the maximum number of cached claims for the same offers.
const mostClaims = 64

// nodeClaim contains the requirements of the NodeClaim for a node with these labels. The field before has the requirements that the method
// Allowed returns for the node. The field after has the same requirements, restricted to the offerings that may be bought.
type nodeClaim struct{ labels, before, after requirements.Set }

type variantOf struct {
	catalog *market.Catalog
	variant int
}

// rowOffer is a row with its cheapest offering among the suitable slots, and the price of that offering.
type rowOffer struct {
	row, slot int32
	price     int64
	// the description of this offering as an option of a plan; nil until it is needed
	option *planning.InstanceTypeOption
}

// Describe sets the requirements, instance types, requests and allocatable amounts of a new node.
func (t NewNodes) Describe(node *planning.NewNode, mc *state.Node, loads []state.Binding, described *Descriptions) Description {
	m := t.M
	p := m.Pools[mc.Pool]
	c := p.Table.Catalog
	rows, slots, claim := t.Allowed(mc, loads)
	offers := described.offersFor(m, mc, rows, slots)
	says, number := offers.claimFor(m, mc, claim, slots)
	key := binary.LittleEndian.AppendUint32(append(described.key[:0], offers.key...), uint32(number))
	for _, n := range mc.Used {
		key = binary.LittleEndian.AppendUint64(key, uint64(n))
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(mc.Row))
	key = binary.LittleEndian.AppendUint32(key, uint32(described.most))
	if m.Standings != nil {
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
		if described.Spare != nil {
			spare = described.Spare[mc.Pool]
		}
		described.scratch = optionsFor(m, described.scratch[:0], p, mc, spare, offers, most)
		own := ownFirst(m, described.scratch, p, mc)
		described.scratch = described.scratch[:min(most, len(described.scratch))]
		d.options = slices.Clone(described.scratch)
		d.claim = says
		d.offers = offers
		d.assume(m, mc, slots)
		if own {
			d.row, d.slot = int(mc.Row), int(mc.Slot)
		}
		d.request(m, mc)
		described.byLoad[string(described.key)] = d
	}
	node.InstanceTypes, node.Requirements = d.options, d.claim
	node.MinValuesRelaxed = len(p.Variety) > 0 && !p.VariedFor(mc.Row, mc.Used, rows, slots)
	node.Requests = d.requests
	node.Allocatable = described.allocatableOf(c, p.Table.Rows[d.row].Variant)
	return d
}

// Keep reduces a described node to the given options, so its first option may change.
func (t NewNodes) Keep(node *planning.NewNode, options []planning.InstanceTypeOption, mc *state.Node, loads []state.Binding, d Description, described *Descriptions) Description {
	first := node.InstanceTypes[0]
	node.InstanceTypes = options
	if options[0].Name == first.Name {
		return d
	}
	m := t.M
	p := m.Pools[mc.Pool]
	_, slots, _ := t.Allowed(mc, loads)
	d.options = options
	d.assume(m, mc, slots)
	d.request(m, mc)
	node.Requests = d.requests
	node.Allocatable = described.allocatableOf(p.Table.Catalog, p.Table.Rows[d.row].Variant)
	return d
}

// assume finds the row and slot of the node's first option, which the plan assumes will be launched.
func (d *Description) assume(m *model.Model, mc *state.Node, slots bitset.Set) {
	p := m.Pools[mc.Pool]
	d.row = rowOf(m, p, d.options[0].Name, mc, d.offers.rows)
	d.slot, _ = p.Table.Catalog.Cheapest(p.Table.Rows[d.row].Variant, p.Table.Rows[d.row].Slots, slots)
}

// request sums the requests of the node's NodeClaim: those of its pods and of the DaemonSet pods on its row.
func (d *Description) request(m *model.Model, mc *state.Node) {
	p := m.Pools[mc.Pool]
	used, dims := slices.Clone(mc.Used), m.Resources.Len()
	resources.AddScaled(used, p.Table.Taken[d.row*dims:(d.row+1)*dims], 1)
	d.requests = m.Resources.List(used)
	m.Devices.ServedBy(p.Table.Catalog.Types, d.options, d.requests)
}

// offersFor returns the offers in the rows and slots of the node's pool.
func (d *Descriptions) offersFor(m *model.Model, mc *state.Node, rows, slots bitset.Set) *offersOf {
	d.key = d.key[:0]
	for _, set := range []bitset.Set{rows, slots} {
		for _, w := range set {
			d.key = binary.LittleEndian.AppendUint64(d.key, w)
		}
	}
	d.key = binary.LittleEndian.AppendUint32(d.key, uint32(mc.Pool))
	offers := d.offered[string(d.key)]
	if offers == nil {
		offers = &offersOf{key: string(d.key), rows: rowOffers(m, m.Pools[mc.Pool], rows, slots)}
		d.offered[offers.key] = offers
	}
	return offers
}

// claimFor returns the requirements of the node's NodeClaim, and a number that identifies them among the claims for the same offers.
func (o *offersOf) claimFor(m *model.Model, mc *state.Node, claim requirements.Set, slots bitset.Set) (says requirements.Set, number int) {
	at := slices.IndexFunc(o.claims, func(c nodeClaim) bool { return c.before.Equal(claim) && c.labels.Equal(mc.Labels) })
	if at < 0 {
		if len(o.claims) == mostClaims {
			o.forgotten += len(o.claims)
			o.claims = o.claims[:0]
		}
		p := m.Pools[mc.Pool]
		at = len(o.claims)
		o.claims = append(o.claims, nodeClaim{mc.Labels, claim, nodepool.Claim(p.Table.Catalog, claim, p.Template.Merge(mc.Labels), slots)})
	}
	return o.claims[at].after, o.forgotten + at
}

func (d *Descriptions) allocatableOf(c *market.Catalog, variant int) corev1.ResourceList {
	list, known := d.allocatable[variantOf{c, variant}]
	if !known {
		list = resources.Canonical(c.Variants[variant].Allocatable)
		if d.allocatable != nil {
			d.allocatable[variantOf{c, variant}] = list
		}
	}
	return list
}

// option returns the description of the offer with this index as an option of a plan. The description is made when it is first needed.
func (o *offersOf) option(m *model.Model, p *nodepool.Pool, number int) *planning.InstanceTypeOption {
	r := &o.rows[number]
	if r.option == nil {
		if len(o.room) == cap(o.room) {
			o.room = make([]planning.InstanceTypeOption, 0, min(roomForOptions, len(o.rows)))
		}
		o.room = append(o.room, optionAt(m, p.Table.Catalog, typeNameOf(p, r.row), p.Table.Rows[r.row].Variant, int(r.slot), r.price))
		r.option = &o.room[len(o.room)-1]
	}
	return r.option
}
