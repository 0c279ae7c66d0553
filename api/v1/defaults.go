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

// Default sets unset fields of the pool: expireAfter 720h, consolidateAfter 0s, consolidationPolicy WhenEmptyOrUnderutilized, one budget
// of 10%, and 10% in each budget without a limit. It does not change fields that are set, including an empty list of budgets; applying it
// twice has no further effect.
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

// Default sets expireAfter of the claim to 720h if it is unset. Applying it twice has no further effect.
func (c *NodeClaim) Default() { defaultExpireAfter(&c.Spec.ExpireAfter) }

// Default does nothing, because an overlay has no defaults; it exists so that every kind has the method.
func (o *NodeOverlay) Default() {}

func defaultExpireAfter(d *NillableDuration) {
	if d.IsZero() {
		// The text is the same as in the API's schema, so that a manifest with defaults also contains "720h".
		*d = NillableDuration{text: "720h", span: DefaultExpireAfter}
	}
}
