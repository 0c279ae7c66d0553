package v1beta1

import (
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Default sets unset fields of the pool: consolidationPolicy WhenUnderutilized, expireAfter 720h, one budget of 10%, and 10% in each
// budget without a limit. It does not change fields that are set, including an empty list of budgets; applying it twice has no further
// effect.
func (p *NodePool) Default() {
	d := &p.Spec.Disruption
	defaultDisruption(d)
	if d.Budgets == nil {
		d.Budgets = []Budget{{}}
	}
	for i := range d.Budgets {
		if d.Budgets[i].Nodes == "" {
			d.Budgets[i].Nodes = v1.DefaultBudgetNodes
		}
	}
}

// Default does nothing, because a claim has no defaults; it exists so that every kind has the method.
func (c *NodeClaim) Default() {}

// defaultDisruption sets the unset fields whose default or path is different in v1.
func defaultDisruption(d *Disruption) {
	if d.ConsolidationPolicy == "" {
		d.ConsolidationPolicy = ConsolidationPolicyWhenUnderutilized
	}
	if d.ExpireAfter.IsZero() {
		// v1 has the same default, with the same text.
		claim := v1.NodeClaim{}
		claim.Default()
		d.ExpireAfter = claim.Spec.ExpireAfter
	}
}
