package certify

import (
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// placedOnNew counts the pods on new nodes by class and stage. Members of gangs are counted without the restriction to one domain, because
// the bound must be valid for every domain that the gang could use.
func (t Certifying) placedOnNew(order func() []state.Binding) map[[2]int32]int {
	counts := map[[2]int32]int{}
	if t.M.Gangs == nil {
		for _, b := range t.S.Placed.All {
			if b.Host >= int32(len(t.M.Nodes)) && b.Count > 0 {
				counts[[2]int32{b.Class, b.Stage}] += int(b.Count)
			}
		}
		return counts
	}
	next := make([]int, len(t.M.Classes))
	for _, b := range order() {
		queue, from := trial.GangsOf(t.Trial).QueueOf(b.Class), next[b.Class]
		next[b.Class] += int(b.Count)
		node := int(b.Host) - len(t.M.Nodes)
		if node < 0 {
			continue
		}
		for i := from; i < from+int(b.Count); i++ {
			class, stage := b.Class, b.Stage
			if i < len(queue) && t.M.PodClass[queue[i]] != class {
				as := t.M.PodClass[queue[i]]
				if st := placing.Of(t.Trial).StageAllowing(t.M.Classes[as], &t.S.Planned[node]); st >= 0 {
					class, stage = as, st
				}
			}
			counts[[2]int32{class, stage}]++
		}
	}
	return counts
}
