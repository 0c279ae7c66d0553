package v1

import "github.com/drawknife/drawknife/internal/conditions"

// Conditions is a view of an object's conditions; it writes through to the object. Has and Get read one, IsTrue several,
// Ready the roll-up; Set, SetTrue, SetFalse, SetUnknown and Clear write, as of a time the caller gives. Conditions that
// Ready depends on begin as Unknown when the object was created; a transition time moves only when the status does;
// Ready follows its dependents and can't be set.
type Conditions = conditions.Conditions

// Conditions returns a view of the node class' conditions. Ready depends on all of them but the one on capacity
// reservations; where reserved capacity is in use, hand in ConditionCapacityReservationsReady as further.
func (c *EC2NodeClass) Conditions(further ...string) Conditions {
	dependents := append([]string{
		ConditionSubnetsReady,
		ConditionSecurityGroupsReady,
		ConditionAMIsReady,
		ConditionInstanceProfileReady,
		ConditionPlacementGroupReady,
		ConditionValidationSucceeded,
	}, further...)
	return conditions.Of(&c.ObjectMeta, &c.Status.Conditions, dependents...)
}
