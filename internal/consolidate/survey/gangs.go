package survey

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// tiedPods are the bound members of gangs that are moved as a whole or not at all, and that the removal of a node would tear apart, with
// the block of their nodes: those on several nodes, since planners remove nodes one by one, and those that have to stay in one domain, since
// planners find places for pods one by one. A gang on one node that may be anywhere goes with its node. Nil without gangs.
func tiedPods(view *cluster.View) map[planning.PodKey]*decision.Block {
	gangs := map[planning.PodKey]*planning.Gang{}
	for i := range view.Snapshot.Gangs {
		gang := &view.Snapshot.Gangs[i]
		if gang.DisruptionMode == planning.GangDisruptedSingly {
			continue
		}
		for _, key := range gang.Members {
			gangs[key] = gang
		}
	}
	if len(gangs) == 0 {
		return nil
	}
	out := map[planning.PodKey]*decision.Block{}
	nodes := map[*planning.Gang]int{}
	for i := range view.Machines {
		seen := map[*planning.Gang]bool{}
		for _, pod := range view.Machines[i].Pods {
			gang := gangs[planning.KeyOf(pod)]
			if gang == nil || !pods.Active(pod) {
				continue
			}
			if !seen[gang] {
				seen[gang] = true
				nodes[gang]++
			}
			out[planning.KeyOf(pod)] = &decision.Block{Code: decision.BlockGang, Pod: KeyOf(pod), Key: gang.Key().String()}
		}
	}
	for key, block := range out {
		gang := gangs[key]
		if block.Count = nodes[gang]; block.Count < 2 && !staysTogether(gang) {
			delete(out, key)
		}
	}
	return out
}

// staysTogether reports whether the gang has to be in one domain.
func staysTogether(gang *planning.Gang) bool {
	for _, t := range gang.Topology {
		if t.Policy != planning.GangTopologyPreferred {
			return true
		}
	}
	return false
}

// gangBlock is the block of the first pod whose gang the node's removal would tear apart; nil if there is none.
func (f *Fleet) gangBlock(m *cluster.Machine) *decision.Block {
	if len(f.tied) == 0 {
		return nil
	}
	for _, pod := range m.Pods {
		if why := f.tied[planning.KeyOf(pod)]; why != nil {
			return why
		}
	}
	return nil
}
