// Package requests answers ProvisioningRequests of autoscaling.x-k8s.io: is there room for these pods, could there be room, and what would
// it cost?
//
//	round, err := requests.Begin(ctx, requests.Input{Snapshot: snapshot, Requests: list, PodTemplates: templates})
//	if err != nil {
//		return err
//	}
//	// … plan round.Snapshot in place of the snapshot, launch what the plan asks for, and then:
//	answers, err := round.Answer(ctx, plan)
//	if err != nil {
//		return err
//	}
//	for _, a := range answers {
//		if a.Changed {
//			update(a.Request)
//		}
//	}
//
// A round goes through these steps:
//
//  1. Bookings end if their time is over. The other bookings hold their room on the nodes that the request's status names. Pods that use a
//     booking use this room. If the room no longer exists, the booking moves to other existing nodes, or ends.
//  2. Requests of v1.ClassCheckCapacity are tried on existing nodes, after all pending pods, the oldest first. No nodes are launched for
//     them.
//  3. Requests of v1.ClassBestEffortAtomicScaleUp join Round.Snapshot as gangs. They are provisioned once all their pods have room
//     on existing nodes; until then each round plans them again, on the nodes that are being launched.
//  4. Requests of v1.ClassPlan are planned one by one, in addition to the pods of the steps before.
//
// A round depends only on its input, and its results are the new status of the objects. So a restarted program can continue where it
// stopped. The functions are pure and deterministic: they read no clock, change none of their arguments, and don't depend on the order of
// lists. Requests of other classes are ignored.
//
// Stability: beta.
package requests
