package v1

import (
	"time"
)

const (
	// DefaultExpireAfter is the default of expireAfter.
	DefaultExpireAfter = 720 * time.Hour
	// DefaultBudgetNodes is the default limit of a budget, and the limit of the default budget.
	DefaultBudgetNodes = "10%"
)

// Default fills in what the pool leaves out: expireAfter 720h, consolidateAfter 0s, consolidationPolicy
// WhenEmptyOrUnderutilized, one budget of 10%, and in each budget without a bound 10%. Nothing that is set is changed,
// an empty list of budgets included; applying it twice is applying it once.
func (p *NodePool) Default() {
	defaultExpireAfter(&p.Spec.Template.Spec.ExpireAfter)
	d := &p.Spec.Disruption
	if d.ConsolidateAfter.IsZero() {
		d.ConsolidateAfter = NillableDuration{text: "0s"}
	}
	if d.ConsolidationPolicy == "" {
		d.ConsolidationPolicy = ConsolidationPolicyWhenEmptyOrUnderutilized
	}
	if d.Budgets == nil {
		d.Budgets = []Budget{{}}
	}
	for i := range d.Budgets {
		if d.Budgets[i].Nodes == "" {
			d.Budgets[i].Nodes = DefaultBudgetNodes
		}
	}
}

// Default fills in what the claim leaves out: expireAfter 720h. Applying it twice is applying it once.
func (c *NodeClaim) Default() { defaultExpireAfter(&c.Spec.ExpireAfter) }

// Default does nothing, because an overlay has no defaults; it exists so that every kind has the method.
func (o *NodeOverlay) Default() {}

func defaultExpireAfter(d *NillableDuration) {
	if d.IsZero() {
		// Written the way the API's schema writes it, so that a defaulted manifest reads "720h" too.
		*d = NillableDuration{text: "720h", span: DefaultExpireAfter}
	}
}
