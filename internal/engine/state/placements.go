package state

import (
	"iter"
	"slices"
)

// Binding says that Count pods of a class are on a host. Hosts have numbers: existing nodes come first, then new nodes.
type Binding struct {
	Class, Host, Count int32
	// Stage is the number of the stage at which the pods were placed on a new node.
	Stage int32
	// Tight means that spread constraints may allow the binding only because no node exists in an emptier domain.
	Tight bool
	// Before is the number, from 1, of the previous binding on the same host, or 0.
	Before int32
}

// Placements are all bindings, in an order in which the pods can be bound. Placements also finds the bindings of each host.
type Placements struct {
	// Bindings are only added at the end of All. If all pods of a binding are removed, the binding stays in the list, with no pods.
	All []Binding
	// last has, for each host, the number, from 1, of its last binding, or 0. Existing nodes are the first hosts. The field existing is the
	// number of existing nodes.
	last     []int32
	existing int
}

func newPlacements(existing int) Placements {
	return Placements{last: make([]int32, existing), existing: existing}
}

func (p *Placements) clone() Placements {
	return Placements{slices.Clone(p.All), slices.Clone(p.last), p.existing}
}

// push adds a binding as the last binding of its host.
func (p *Placements) push(b Binding) {
	b.Before, p.last[b.Host] = p.last[b.Host], int32(len(p.All)+1)
	p.All = append(p.All, b)
}

// pop removes the last binding.
func (p *Placements) pop() Binding {
	b := p.All[len(p.All)-1]
	p.All, p.last[b.Host] = p.All[:len(p.All)-1], b.Before
	return b
}

// numbers yields the indexes, in the list All, of the host's bindings that have pods, the last binding first.
func (p *Placements) numbers(host int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := p.last[host] - 1; i >= 0; i = p.All[i].Before - 1 {
			if p.All[i].Count > 0 && !yield(i) {
				return
			}
		}
	}
}

// On yields the bindings on the host that have pods, the last binding first.
func (p *Placements) On(host int32) iter.Seq[*Binding] {
	return func(yield func(*Binding) bool) {
		for i := range p.numbers(host) {
			if !yield(&p.All[i]) {
				return
			}
		}
	}
}

// Load returns the bindings on the host that have pods, in the order in which they were added.
func (p *Placements) Load(host int32) []Binding {
	var out []Binding
	for i := range p.numbers(host) {
		out = append(out, p.All[i])
	}
	slices.Reverse(out)
	return out
}

// Loads returns, for each new node from the index from on, the bindings on the node.
func (p *Placements) Loads(from int) [][]Binding {
	out := make([][]Binding, len(p.last)-p.existing-from)
	for i := range out {
		out[i] = p.Load(int32(p.existing + from + i))
	}
	return out
}

// Since returns the bindings since the mark.
func (p *Placements) Since(l *Log, m Mark) []Binding { return p.All[len(p.All)-l.placedSince(m):] }

// PodsSince returns how many pods were placed since the mark.
func (p *Placements) PodsSince(l *Log, m Mark) int { return podsOf(p.Since(l, m)) }

// podsOf returns how many pods the bindings have.
func podsOf(bindings []Binding) int {
	n := 0
	for _, b := range bindings {
		n += int(b.Count)
	}
	return n
}
