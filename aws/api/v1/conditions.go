package v1

import "github.com/drawknife/drawknife/api/conditions"

// Conditions returns a view of the node class' conditions. Ready depends on all conditions except the condition about capacity
// reservations. If reserved capacity is in use, pass ConditionCapacityReservationsReady in further.
func (c *EC2NodeClass) Conditions(further ...string) conditions.Conditions {
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
