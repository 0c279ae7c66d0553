package v1

import "github.com/drawknife/drawknife/internal/conditions"

// Conditions is a view of an object's conditions; it writes through to the object. Has and Get read one, IsTrue several,
// Ready the roll-up; Set, SetTrue, SetFalse, SetUnknown and Clear write, as of a time the caller gives. Conditions that
// Ready depends on begin as Unknown when the object was created; a transition time moves only when the status does;
// Ready follows its dependents and can't be set.
type Conditions = conditions.Conditions

// Conditions returns a view of the pool's conditions. Ready depends on ValidationSucceeded and NodeClassReady.
func (p *NodePool) Conditions() Conditions {
	return conditions.Of(&p.ObjectMeta, &p.Status.Conditions, ConditionValidationSucceeded, ConditionNodeClassReady)
}

// Conditions returns a view of the claim's conditions. Ready depends on Launched, Registered and Initialized.
func (c *NodeClaim) Conditions() Conditions {
	return conditions.Of(&c.ObjectMeta, &c.Status.Conditions, ConditionLaunched, ConditionRegistered, ConditionInitialized)
}

// Conditions returns a view of the overlay's conditions. Ready depends on ValidationSucceeded.
func (o *NodeOverlay) Conditions() Conditions {
	return conditions.Of(&o.ObjectMeta, &o.Status.Conditions, ConditionValidationSucceeded)
}
