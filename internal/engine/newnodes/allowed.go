package newnodes

import (
	"encoding/binary"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// mostAllowed is the maximum number of cached results of Allowed.
const mostAllowed = 4096

// Allowed returns the rows and slots that could replace the node, and the requirements of its NodeClaim. The results are cached and must
// not be changed.
func (t NewNodes) Allowed(mc *state.Node, loads []state.Binding) (rows, slots bitset.Set, claim requirements.Set) {
	p := t.M.Pools[mc.Pool]
	if mc.Labels.Len() > 0 || mc.Commitment != 0 || len(p.Variety) > 0 {
		return t.FindAllowed(mc, loads)
	}
	text := t.AllowedText(p, [3]int32{mc.Pool, mc.Row, mc.Slot}, loads)
	k := &t.Types
	known, has := k.ByText[string(text)]
	if !has {
		known.Rows, known.Slots, known.Claim = t.narrowed(mc, loads, false)
		if k.ByText == nil || len(k.ByText) >= mostAllowed {
			k.ByText = map[string]trial.AllowedTypes{}
		}
		k.ByText[string(text)] = known
	}
	if !known.Rows.Has(int(mc.Row)) || !known.Slots.Has(int(mc.Slot)) {
		return t.FindAllowed(mc, loads)
	}
	return known.Rows, known.Slots, known.Claim
}

// AllowedText returns a text of everything that determines these results: how the node is bought (pool, row and slot), the stages of its
// pods, and their rules. It is valid until the next call.
func (t NewNodes) AllowedText(p *nodepool.Pool, bought [3]int32, loads []state.Binding) []byte {
	m := t.M
	pool, row := bought[0], bought[1]
	text := binary.AppendUvarint(binary.AppendUvarint(t.Types.Text[:0], uint64(pool)), uint64(bought[2]))
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
		if concerned := m.Classes[b.Class].Topology; concerned != nil && !slices.Contains(rules, concerned) {
			rules = append(rules, concerned)
		}
	}
	text = appendNumbers(text, stages)
	for _, concerned := range rules {
		text = appendNumbers(appendNumbers(text, concerned.Owns), concerned.In)
	}
	t.Types.Text = text
	return text
}

// appendNumbers appends the length and the numbers of a list.
func appendNumbers(text []byte, list []int32) []byte {
	text = binary.AppendUvarint(text, uint64(len(list)))
	for _, n := range list {
		text = binary.AppendUvarint(text, uint64(n))
	}
	return text
}

// typesDiffer reports whether rules may distinguish nodes of the pool by their instance types, even if no DaemonSet pods run on them.
func (t NewNodes) typesDiffer(pool int32) bool {
	k := &t.Types
	if k.ByRow == nil {
		k.ByRow = make([]int8, len(t.M.Pools))
	}
	if k.ByRow[pool] == 0 {
		k.ByRow[pool] = -1
		if rulesSeeTypes(t.M, pool) {
			k.ByRow[pool] = 1
		}
	}
	return k.ByRow[pool] > 0
}

// rulesSeeTypes reports whether a rule uses labels that instance types state, or counts only nodes whose labels meet the node affinity of
// the rule's pods.
func rulesSeeTypes(m *model.Model, pool int32) bool {
	c := m.Pools[pool].Table.Catalog
	stated := func(key string) bool {
		_, stated := c.TypeKeys[key]
		return stated
	}
	return slices.ContainsFunc(m.TopologyKeys, stated) || slices.ContainsFunc(m.Topology, func(g topology.Group) bool {
		return g.Filter.Terms != nil || slices.ContainsFunc(g.Labels, stated)
	})
}

// domainsKnown appends one bit for each domain that the pool's nodes may be in: whether all spreads over the domain's key already have a
// node in this domain.
func (t NewNodes) domainsKnown(text []byte, pool int32) []byte {
	if t.S.Topology == nil {
		return text
	}
	m := t.M
	c := m.Pools[pool].Table.Catalog
	for at, key := range m.TopologyKeys {
		if _, stated := c.TypeKeys[key]; !stated && !c.OfferingKeys[key] || !spreadBy(m, at) {
			continue
		}
		bits, n := byte(0), int32(len(t.S.Topology.Domains[at]))
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
