package v1

import "github.com/drawknife/drawknife/api/conditions"

// Conditions returns a view of the pool's conditions. Ready depends on ValidationSucceeded and NodeClassReady.
func (p *NodePool) Conditions() conditions.Conditions {
	return conditions.Of(&p.ObjectMeta, &p.Status.Conditions, ConditionValidationSucceeded, ConditionNodeClassReady)
}

// Conditions returns a view of the claim's conditions. Ready depends on Launched, Registered and Initialized.
func (c *NodeClaim) Conditions() conditions.Conditions {
	return conditions.Of(&c.ObjectMeta, &c.Status.Conditions, ConditionLaunched, ConditionRegistered, ConditionInitialized)
}

// Conditions returns a view of the overlay's conditions. Ready depends on ValidationSucceeded.
func (o *NodeOverlay) Conditions() conditions.Conditions {
	return conditions.Of(&o.ObjectMeta, &o.Status.Conditions, ConditionValidationSucceeded)
}
