package scheduling

import (
	"encoding/binary"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// knownLeeways remember leeway of new nodes by what decides it: planners describe nodes with pods of the same kinds again and again.
type knownLeeways struct {
	byText map[string]knownLeeway
	text   []byte // scratch
	// byRow says, by pool, whether nodes of different types differ to rules: 1 for yes, -1 for no, 0 where nobody has asked.
	byRow []int8
}

type knownLeeway struct {
	rows, slots bitset.Set
	claim       requirements.Set
}

// mostLeeways is how many are remembered.
const mostLeeways = 4096

// knownLeeway is leeway, which is remembered: nobody may change it.
func (t *Trial) knownLeeway(mc *state.Node, loads []state.Binding) (rows, slots bitset.Set, claim requirements.Set) {
	text, plain := t.leewayText(mc, loads)
	if !plain {
		return t.leeway(mc, loads)
	}
	k := &t.leeways
	known, has := k.byText[string(text)]
	if !has {
		known.rows, known.slots, known.claim = t.narrowed(mc, loads)
		if k.byText == nil || len(k.byText) >= mostLeeways {
			k.byText = map[string]knownLeeway{}
		}
		k.byText[string(text)] = known
	}
	if !known.rows.Has(int(mc.Row)) || !known.slots.Has(int(mc.Slot)) {
		return t.leeway(mc, loads)
	}
	return known.rows, known.slots, known.claim
}

// leewayText puts into words what decides the node's leeway: how it is bought, at which stages its pods are, and which rules concern
// them; false where it depends on more. It is good until the next call.
func (t *Trial) leewayText(mc *state.Node, loads []state.Binding) (text []byte, plain bool) {
	m := t.m
	p := m.pools[mc.Pool]
	if mc.Labels.Len() > 0 || mc.Commitment != 0 || len(p.Variety) > 0 {
		return nil, false
	}
	text = binary.AppendUvarint(binary.AppendUvarint(t.leeways.text[:0], uint64(mc.Pool)), uint64(mc.Slot))
	if t.typesDiffer(mc.Pool) {
		text = binary.AppendUvarint(text, uint64(mc.Row))
	} else {
		text = binary.AppendUvarint(text, uint64(p.Table.Rows[mc.Row].Resident))
	}
	text = t.domainsKnown(text, mc.Pool)
	var fewStages [16]int32
	var fewStakes [16]*topology.Groups
	stages, stakes := fewStages[:0], fewStakes[:0]
	for _, b := range loads {
		if !slices.Contains(stages, b.Stage) {
			stages = append(stages, b.Stage)
		}
		if stake := m.classes[b.Class].Topology; stake != nil && !slices.Contains(stakes, stake) {
			stakes = append(stakes, stake)
		}
	}
	text = appendNumbers(text, stages)
	for _, stake := range stakes {
		text = appendNumbers(appendNumbers(text, stake.Owns), stake.In)
	}
	t.leeways.text = text
	return text, true
}

// appendNumbers appends how many they are, and each.
func appendNumbers(text []byte, list []int32) []byte {
	text = binary.AppendUvarint(text, uint64(len(list)))
	for _, n := range list {
		text = binary.AppendUvarint(text, uint64(n))
	}
	return text
}

// typesDiffer reports whether rules may tell nodes of the pool apart by their types, residents aside.
func (t *Trial) typesDiffer(pool int32) bool {
	k := &t.leeways
	if k.byRow == nil {
		k.byRow = make([]int8, len(t.m.pools))
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
	c := m.pools[pool].Table.Catalog
	stated := func(key string) bool {
		_, stated := c.TypeKeys[key]
		return stated
	}
	return slices.ContainsFunc(m.topologyKeys, stated) || slices.ContainsFunc(m.topology, func(g topology.Group) bool {
		return g.Filter.Terms != nil || slices.ContainsFunc(g.Labels, stated)
	})
}

// domainsKnown appends which domains that nodes of the pool may be in have nodes that all spreads take notice of.
func (t *Trial) domainsKnown(text []byte, pool int32) []byte {
	if t.s.Topology == nil {
		return text
	}
	m := t.m
	c := m.pools[pool].Table.Catalog
	for at, key := range m.topologyKeys {
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
