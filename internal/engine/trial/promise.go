package trial

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// VictimsOn returns the preempted pods on the node: pods that are being deleted and have a priority below the given priority.
func VictimsOn(m *model.Model, n *existing.Node, priority int32) []existing.Pod {
	return slices.DeleteFunc(slices.Clone(n.Bound), func(p existing.Pod) bool {
		return !p.Terminating || m.Classes[p.Class].Priority >= priority
	})
}

// promiseRoom counts the room of preempted pods as free if pods that are nominated for the node need this room.
func (t *Trial) promiseRoom() {
	m := t.M
	type promise struct{ needs, victims []int64 }
	promised := map[int]*promise{}
	for class, c := range m.Classes {
		if c.Nominated == "" || t.S.Waiting[class] == 0 {
			continue
		}
		at, known := m.NodeIndex[c.Nominated]
		if !known || !m.Nodes[at].Usable {
			continue
		}
		p := promised[at]
		if p == nil {
			p = &promise{make([]int64, m.Resources.Len()), make([]int64, m.Resources.Len())}
			promised[at] = p
		}
		resources.AddScaled(p.needs, c.Requests, int64(t.S.Waiting[class]))
		victims := make([]int64, m.Resources.Len())
		for _, v := range VictimsOn(m, &m.Nodes[at], c.Priority) {
			resources.AddScaled(victims, m.Classes[v.Class].Requests, 1)
		}
		for d := range victims {
			p.victims[d] = max(p.victims[d], victims[d])
		}
	}
	for at, p := range promised {
		free := t.S.Room.Of(int32(at))
		for d := range free {
			gone := p.victims[d]
			if over := m.Nodes[at].Over; over != nil {
				gone -= over[d]
			}
			free[d] += max(min(gone, p.needs[d]-free[d]), 0)
		}
	}
}
