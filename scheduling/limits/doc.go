// Package limits keeps the books on NodePool limits: what each pool has, has ordered and means to order, so that
// launches that go on side by side never exceed a limit together.
//
//	tracker := limits.NewTracker()
//	if err := tracker.SetLimits(pool, nodePool.Spec.Limits); err != nil {
//		return err
//	}
//	if err := tracker.Reserve(pool, string(claim.UID), capacity); err != nil {
//		return err // *ExceededError: which limit, how much is taken, how much was asked for
//	}
//
// One entry stands for one node for its whole life, under one name: reserved when it is planned, launching once its
// NodeClaim exists, live when its instance does, leaving when it is being removed, and gone. An entry never counts
// twice, and none is forgotten between two phases.
//
// Stability: beta.
package limits
