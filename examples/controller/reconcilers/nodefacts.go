package reconcilers

import (
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
)

// learnFacts learns facts from the nodes of a snapshot, and makes the plans of the snapshot use the learned facts.
func (p *planner) learnFacts(s *scheduling.Snapshot, set *provisioning.PoolSet) {
	if p.options.NodeFacts == nil {
		return
	}
	p.options.NodeFacts.Observe(s)
	p.options.NodeFacts.Apply(s)
	set.NodePools, set.Catalogs = s.NodePools, s.Catalogs
}
