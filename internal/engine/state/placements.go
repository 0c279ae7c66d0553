package state

import (
	"iter"
	"slices"
)

// Binding is a number of pods of a class on a host. Hosts are numbered: existing nodes first, then new ones.
type Binding struct {
	Class, Host, Count int32
	// Stage that allowed it on a new node.
	Stage int32
	// Tight bindings are only valid because no node has fewer members of a spread over nodes.
	Tight bool
	// Before is the number, from 1, of the previous binding on the same host; 0 for none.
	Before int32
}

// Placements are the bindings, in an order in which pods can be bound, and which of them each host has.
type Placements struct {
	// All only grows at the end. If all pods of a binding are removed, the empty binding stays.
	All []Binding
	// last is the number of the last binding on each host, from 1; 0 for none. The first existing hosts are existing nodes.
	last     []int32
	existing int
}

func newPlacements(existing int) Placements {
	return Placements{last: make([]int32, existing), existing: existing}
}

func (p *Placements) clone() Placements {
	return Placements{slices.Clone(p.All), slices.Clone(p.last), p.existing}
}

// push adds a binding after those on its host.
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

// numbers yields the indexes in All of the bindings on the host that have pods, the last first.
func (p *Placements) numbers(host int32) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := p.last[host] - 1; i >= 0; i = p.All[i].Before - 1 {
			if p.All[i].Count > 0 && !yield(i) {
				return
			}
		}
	}
}

// On yields the bindings on the host that have pods, the last first.
func (p *Placements) On(host int32) iter.Seq[*Binding] {
	return func(yield func(*Binding) bool) {
		for i := range p.numbers(host) {
			if !yield(&p.All[i]) {
				return
			}
		}
	}
}

// Load returns the bindings on the host that have pods, in their order.
func (p *Placements) Load(host int32) []Binding {
	var out []Binding
	for i := range p.numbers(host) {
		out = append(out, p.All[i])
	}
	slices.Reverse(out)
	return out
}

// Loads returns the bindings on each new node, starting with the given node.
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
