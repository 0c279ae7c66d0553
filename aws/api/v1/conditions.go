package v1

import "github.com/drawknife/drawknife/api/conditions"

// Conditions returns a view of the node class' conditions. Ready depends on all of them but the one on capacity
// reservations; where reserved capacity is in use, hand in ConditionCapacityReservationsReady as further.
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
