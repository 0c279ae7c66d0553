package state

import (
	"iter"
	"slices"
)

// Binding says that Count pods of a class are on a host. Hosts have numbers: existing nodes come first, then new nodes.
type Binding struct {
	Class, Host, Count int32
	// Stage is the stage at which the pods are on a new node.
	Stage int32
	// Tight means that the binding is only valid because no node has fewer members of a spread over nodes.
	Tight bool
	// Before is the number, from 1, of the previous binding on the same host, or 0.
	Before int32
}

// Placements are all bindings, in an order in which the pods can be bound. Placements also finds the bindings of each host.
type Placements struct {
	// Bindings are only added at the end of All. If all pods of a binding are removed, the binding stays in the list, with no pods.
	All []Binding
	// last has the number, from 1, of the last binding on each host, or 0. The first hosts are existing nodes; existing is their number.
	last     []int32
	existing int
}

func newPlacements(existing int) Placements {
	return Placements{last: make([]int32, existing), existing: existing}
}

func (p *Placements) clone() Placements {
	return Placements{slices.Clone(p.All), slices.Clone(p.last), p.existing}
}

// push adds a binding as the last one of its host.
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

// numbers yields the indexes in All of those bindings on the host that have pods, the last first.
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

// Load returns the bindings on the host that have pods, in the order in which they were added.
func (p *Placements) Load(host int32) []Binding {
	var out []Binding
	for i := range p.numbers(host) {
		out = append(out, p.All[i])
	}
	slices.Reverse(out)
	return out
}

// Loads returns the bindings on each new node with a number of from or higher.
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
