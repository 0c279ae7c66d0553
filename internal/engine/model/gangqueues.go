package model

import (
	"slices"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Plannable reports whether the gang may be placed at all.
func (g *Gang) Plannable(s *planning.Snapshot) bool {
	return g.There >= g.Source.Needs() && (g.Source.Deadline.IsZero() || s.Time.Before(g.Source.Deadline))
}

// Option is the one whose way it is; nil for none.
func (g *Gang) Option(way int32) *GangOption {
	for o := range g.Options {
		if o.Way == way&^1 {
			return o
		}
	}
	return nil
}

// Queues are the pods of each class with members, in the order in which they are placed while gangs wait in the ways.
func (x *GangIndex) Queues(m *Model, ways []int32) map[int32][]int32 {
	out := map[int32][]int32{}
	add := func(number int32, from, to int) {
		g := &x.List[number]
		o := g.Option(ways[number])
		for i := from; o != nil && i < to; i++ {
			out[o.Classes[i]] = append(out[o.Classes[i]], g.Pods[i])
		}
	}
	for _, number := range x.Order {
		add(number, 0, min(x.List[number].Needed, len(x.List[number].Pods)))
	}
	for _, number := range x.Order {
		if g := &x.List[number]; ways[number] >= GangOptions && ways[number]%2 == 1 {
			add(number, g.Needed, len(g.Pods))
		}
	}
	base := map[int32]bool{}
	for i, of := range x.Of {
		if of >= 0 {
			base[m.PodClass[i]] = true
		}
	}
	for class := range base {
		list := out[class]
		for _, i := range m.Classes[class].Pending {
			if of := x.Of[i]; of < 0 || ways[of] == GangAsPods {
				list = append(list, i)
			}
		}
		out[class] = list
	}
	return out
}

// Singles are the pods of the class that are of no gang.
func (m *Model) Singles(class int32) []int32 {
	pending := m.Classes[class].Pending
	if m.Gangs == nil {
		return pending
	}
	return slices.DeleteFunc(slices.Clone(pending), func(i int32) bool { return m.Gangs.Of[i] >= 0 })
}
