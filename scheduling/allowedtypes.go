package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// knownTypes remember which types new nodes may be of by what decides it: planners describe nodes with pods of the same kinds again and again.
type knownTypes struct {
	byText map[string]allowedTypes
	text   []byte // scratch
	// byRow says, by pool, whether nodes of different types differ to rules: 1 for yes, -1 for no, 0 where nobody has asked.
	byRow []int8
}

// allowedTypes are rows and slots of a pool, and what a claim for them says.
type allowedTypes struct {
	rows, slots bitset.Set
	claim       requirements.Set
}

// mostAllowed is how many are remembered.
const mostAllowed = 4096

// allowed are the rows and slots that would do in place of the node, and what its claim says, all remembered: nobody may change them.
func (t *Trial) allowed(mc *state.Node, loads []state.Binding) (rows, slots bitset.Set, claim requirements.Set) {
	p := t.m.c.Pools[mc.Pool]
	if mc.Labels.Len() > 0 || mc.Commitment != 0 || len(p.Variety) > 0 {
		return t.leeway(mc, loads)
	}
	text := t.allowedText(p, [3]int32{mc.Pool, mc.Row, mc.Slot}, loads)
	k := &t.types
	known, has := k.byText[string(text)]
	if !has {
		known.rows, known.slots, known.claim = t.narrowed(mc, loads)
		if k.byText == nil || len(k.byText) >= mostAllowed {
			k.byText = map[string]allowedTypes{}
		}
		k.byText[string(text)] = known
	}
	if !known.rows.Has(int(mc.Row)) || !known.slots.Has(int(mc.Slot)) {
		return t.leeway(mc, loads)
	}
	return known.rows, known.slots, known.claim
}

// allowedText puts into words what decides that: how the node is bought, as pool, row and slot, at which stages its pods are, and
// which rules concern them. It is good until the next call.
func (t *Trial) allowedText(p *nodepool.Pool, bought [3]int32, loads []state.Binding) []byte {
	m := t.m
	pool, row := bought[0], bought[1]
	text := binary.AppendUvarint(binary.AppendUvarint(t.types.text[:0], uint64(pool)), uint64(bought[2]))
	if t.typesDiffer(pool) {
		text = binary.AppendUvarint(text, uint64(row))
	} else {
		text = binary.AppendUvarint(text, uint64(p.Table.Rows[row].Resident))
	}
	text = t.domainsKnown(text, pool)
	var fewStages [16]int32
	var fewRules [16]*topology.Groups
	stages, rules := fewStages[:0], fewRules[:0]
	for _, b := range loads {
		if !slices.Contains(stages, b.Stage) {
			stages = append(stages, b.Stage)
		}
		if concerned := m.c.Classes[b.Class].Topology; concerned != nil && !slices.Contains(rules, concerned) {
			rules = append(rules, concerned)
		}
	}
	text = appendNumbers(text, stages)
	for _, concerned := range rules {
		text = appendNumbers(appendNumbers(text, concerned.Owns), concerned.In)
	}
	t.types.text = text
	return text
}

// appendNumbers appends how many they are, and each.
func appendNumbers(text []byte, list []int32) []byte {
	text = binary.AppendUvarint(text, uint64(len(list)))
	for _, n := range list {
		text = binary.AppendUvarint(text, uint64(n))
	}
	return text
}

// typesDiffer reports whether nodes of the pool may differ to rules by their types, residents aside.
func (t *Trial) typesDiffer(pool int32) bool {
	k := &t.types
	if k.byRow == nil {
		k.byRow = make([]int8, len(t.m.c.Pools))
	}
	if k.byRow[pool] == 0 {
		k.byRow[pool] = -1
		if t.m.rulesSeeTypes(pool) {
			k.byRow[pool] = 1
		}
	}
	return k.byRow[pool] > 0
}

// rulesSeeTypes reports whether a rule goes by labels of nodes that instance types state, or by which labels its pods ask for.
func (m *Model) rulesSeeTypes(pool int32) bool {
	c := m.c.Pools[pool].Table.Catalog
	stated := func(key string) bool {
		_, stated := c.TypeKeys[key]
		return stated
	}
	return slices.ContainsFunc(m.c.TopologyKeys, stated) || slices.ContainsFunc(m.c.Topology, func(g topology.Group) bool {
		return g.Filter.Terms != nil || slices.ContainsFunc(g.Labels, stated)
	})
}

// domainsKnown appends which domains that nodes of the pool may be in have nodes that all spreads take notice of.
func (t *Trial) domainsKnown(text []byte, pool int32) []byte {
	if t.s.Topology == nil {
		return text
	}
	m := t.m
	c := m.c.Pools[pool].Table.Catalog
	for at, key := range m.c.TopologyKeys {
		if _, stated := c.TypeKeys[key]; !stated && !c.OfferingKeys[key] || !m.spreadBy(at) {
			continue
		}
		bits, n := byte(0), int32(len(t.s.Topology.Domains[at]))
		for d := range n {
			if bits <<= 1; t.knownEverywhere(at, d) {
				bits |= 1
			}
			if d%8 == 7 || d == n-1 {
				text, bits = append(text, bits), 0
			}
		}
	}
	return text
}
