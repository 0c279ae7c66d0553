package v1beta1

import (
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Default fills in what the pool leaves out: consolidationPolicy WhenUnderutilized, expireAfter 720h, one budget of
// 10%, and in each budget without a bound 10%. Nothing that is set is changed, an empty list of budgets included;
// applying it twice is applying it once.
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

// Default is there so that every kind has it: a claim has no defaults.
func (c *NodeClaim) Default() {}

// defaultDisruption fills in what v1 reads differently when it is left out, or elsewhere.
func defaultDisruption(d *Disruption) {
	if d.ConsolidationPolicy == "" {
		d.ConsolidationPolicy = ConsolidationPolicyWhenUnderutilized
	}
	if d.ExpireAfter.IsZero() {
		// v1 has the same default and writes it the same way.
		claim := v1.NodeClaim{}
		claim.Default()
		d.ExpireAfter = claim.Spec.ExpireAfter
	}
}
