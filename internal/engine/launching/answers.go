package launching

import (
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Answers cache which new nodes trials of one model have found for pending pods. The key is everything that the answer depends on: the
// number of pending pods of each class, the unused limits and reservations, and the domains of the pods that the rules of the pending pods
// count. A planner asks the same question repeatedly, because different removals can leave the same pods pending. Trials return the same
// results with and without Answers: see Launching.Recall. Answers are safe for concurrent use.
type Answers struct {
	m *model.Model
	w *valuing.Worth
	q planning.Query
	// none means that nothing is cached, because results depend on data that the key of the cache does not contain. spreads are the rules
	// that an additional domain could break.
	none    bool
	spreads []int32
	mu      sync.Mutex
	known   map[string]answer
	kept    int
	// kinds has, for each stage, the nodes for its pods, as listed by lister.
	kinds  map[int32][]kind
	lister kindLister
}

// mostAnswered limits the memory of an Answers: the number of its answers, their new nodes and their bindings.
const mostAnswered = 1 << 17

// answer is a list of new nodes with their pods and their cost. In bindings, hosts are numbered from the first of the new nodes. The field
// nodes is nil if no new nodes were found.
type answer struct {
	nodes    []state.Node
	bindings []state.Binding
	price    float64
	ok       bool
}

// NewAnswers returns an empty cache for questions with these pod prices and this query. Answers to other questions are not cached.
func NewAnswers(m *model.Model, w *valuing.Worth, q planning.Query) *Answers {
	a := &Answers{m: m, w: w, q: q, known: map[string]answer{}, kinds: map[int32][]kind{}, lister: kindLister{m: m}}
	a.none = m.Costs != nil && len(m.Costs.Commitments) > 0 || slices.ContainsFunc(m.Pools, func(p *nodepool.Pool) bool {
		return len(p.Variety) > 0 || p.Table != nil && slices.ContainsFunc(p.Table.Rows, func(r nodepool.Row) bool { return len(r.Residents) > 0 })
	})
	for g := range m.Topology {
		if group := &m.Topology[g]; group.Kind == topology.Spread && group.Hard && group.At != topology.Hostname {
			a.spreads = append(a.spreads, int32(g))
		}
	}
	return a
}

// kindsOf returns the nodes for pods at a stage. All trials share the result.
func (a *Answers) kindsOf(stage int32) []kind {
	a.mu.Lock()
	defer a.mu.Unlock()
	list, known := a.kinds[stage]
	if !known {
		list = a.lister.at(stage)
		a.kinds[stage] = list
	}
	return list
}

// Len returns the number of cached answers.
func (a *Answers) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.known)
}

// Recall makes PlaceNew, LaunchSome and LaunchLeast use these answers from now on, and add new answers to them. Nil means that no answers
// are used. Answers of another model are ignored.
func (t *Launching) Recall(a *Answers) {
	if t.answers = a; a != nil && a.m != t.M {
		t.answers = nil
	}
}

// askedOf says which function computed a cached answer. It is part of the key, because PlaceNew, LaunchSome and LaunchLeast return
// different answers.
type askedOf byte

const (
	askedPlace askedOf = iota
	askedSome
	askedLeast
)

// question returns everything that the answer depends on, as text. It returns false if the answer can't be cached, for example because it
// depends on more than the text.
func (t *Launching) question(of askedOf, q planning.Query, w *valuing.Worth, numbers ...int64) (string, bool) {
	a := t.answers
	if a == nil || a.none || q != a.q || of != askedPlace && w != a.w || t.S.Tight > 0 || t.Lenient {
		return "", false
	}
	key := append(make([]byte, 0, 256), byte(of))
	for _, n := range numbers {
		key = binary.AppendVarint(key, n)
	}
	var concerned []int32
	for i, n := range t.S.Waiting {
		if n <= 0 {
			continue
		}
		c := t.M.Classes[i]
		if len(c.Shared) > 0 {
			return "", false
		}
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(i)), uint64(n))
		if c.Topology != nil {
			concerned = append(append(concerned, c.Topology.Owns...), c.Topology.In...)
		}
	}
	key = append(key, 0, 0)
	for i, used := range t.S.Limits.Usage {
		for _, n := range used {
			key = binary.AppendVarint(key, n)
		}
		for _, n := range t.S.Limits.Standing[i] {
			key = binary.AppendVarint(key, n)
		}
	}
	key = binary.AppendUvarint(key, uint64(len(t.S.Limits.Reserved)))
	for _, id := range slices.Sorted(maps.Keys(t.S.Limits.Reserved)) {
		key = binary.AppendVarint(append(append(key, id...), 0), int64(t.S.Limits.Reserved[id]))
	}
	if t.S.Topology == nil {
		return string(key), true
	}
	slices.Sort(concerned)
	return t.countsAsked(key, slices.Compact(concerned))
}

// countsAsked adds to the key which domains have nodes that the rules in spreads count, and how many pods each rule in concerned counts in
// each domain. It returns false if Owned or Binding is set in the topology state, or if an additional domain could break rules for pods
// that were placed earlier.
func (t *Launching) countsAsked(key []byte, concerned []int32) (string, bool) {
	s := t.S.Topology
	if s.Owned || s.Binding {
		return "", false
	}
	for _, g := range t.answers.spreads {
		bits, at := byte(0), len(s.Domains[t.M.Topology[g].At])
		for d := range int32(at) {
			present := topology.CountAt(s.Present[g], d) > 0
			if !present && placing.SpreadsOf(t.Trial).Strained(g, d) {
				return "", false
			}
			if bits <<= 1; present {
				bits |= 1
			}
			if d%8 == 7 || int(d) == at-1 {
				key, bits = append(key, bits), 0
			}
		}
	}
	for _, g := range concerned {
		key = binary.AppendUvarint(key, uint64(s.Total[g]))
		if at := t.M.Topology[g].At; at != topology.Hostname {
			for d := range int32(len(s.Domains[at])) {
				key = binary.AppendUvarint(key, uint64(topology.CountAt(s.Members[g], d)))
				key = binary.AppendUvarint(key, uint64(topology.CountAt(s.Owners[g], d)))
				key = append(key, byte(min(topology.CountAt(s.Present[g], d), 1)))
			}
		}
	}
	return string(key), true
}

// recalled looks for a cached answer with the given key. If there is one, it opens the new nodes of the answer and places their pods.
func (t *Launching) recalled(key string) (known answer, has bool) {
	a := t.answers
	a.mu.Lock()
	known, has = a.known[key]
	a.mu.Unlock()
	if !has {
		return known, false
	}
	first := int32(len(t.M.Nodes) + len(t.S.Planned))
	for _, mc := range known.nodes {
		t.S.Open(mc)
	}
	for _, b := range known.bindings {
		b.Host += first
		t.Add(b)
	}
	return known, true
}

// keepAnswer caches the changes since the mark, if they concern only new nodes.
func (t *Launching) keepAnswer(key string, since trial.Mark, price float64, ok bool) {
	found, apart := t.answerSince(since)
	if !apart {
		return
	}
	found.price, found.ok = price, ok
	a := t.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, has := a.known[key]; has || a.kept > mostAnswered {
		return
	}
	a.known[key] = found
	a.kept += 1 + len(found.nodes) + len(found.bindings)
}

// answerSince returns the new nodes that were opened since the mark and have pods. It returns false if anything else in the trial was
// changed since the mark.
func (t *Launching) answerSince(since trial.Mark) (found answer, ok bool) {
	firstNode, firstPlaced, apart := t.S.Log.ApartSince(since.At, len(t.S.Planned), len(t.S.Placed.All))
	if !apart {
		return found, false
	}
	number := make([]int32, len(t.S.Planned)-firstNode) // the new number of each node; nodes without pods are left out
	for i := range number {
		if mc := t.S.Planned[firstNode+i]; !mc.Empty() {
			number[i] = int32(len(found.nodes))
			mc.Used = nil
			found.nodes = append(found.nodes, mc)
		}
	}
	for _, b := range t.S.Placed.All[firstPlaced:] {
		if b.Count == 0 {
			continue
		}
		at := int(b.Host) - len(t.M.Nodes) - firstNode
		if at < 0 || b.Tight {
			return found, false
		}
		b.Host, b.Before = number[at], 0
		found.bindings = append(found.bindings, b)
	}
	return found, true
}
