// Package limits tracks the use of NodePool limits by existing, ordered and planned nodes, so that parallel launches together never exceed
// a limit.
//
//	tracker := limits.NewTracker()
//	if err := tracker.SetLimits(pool, nodePool.Spec.Limits); err != nil {
//		return err
//	}
//	if err := tracker.Reserve(pool, string(claim.UID), capacity); err != nil {
//		return err // *ExceededError: which limit, how much is taken, how much was asked for
//	}
//
// One entry represents one node for its whole life, under one name: reserved when it is planned, launching when its NodeClaim exists, live
// when its instance exists, leaving while it is being removed, and then deleted. An entry never counts twice, and none is forgotten between
// two phases.
//
// Stability: beta.
package limits
