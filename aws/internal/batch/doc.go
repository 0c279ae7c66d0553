// Package batch merges calls that arrive close together into fewer calls of an API that accepts many items per call.
//
//	describe := batch.New(batch.Options[string, types.Instance]{
//		Name: "describe_instances",
//		Idle: 100 * time.Millisecond, Max: time.Second, MaxItems: 200,
//		Do: func(ctx context.Context, ids []string) []batch.Answer[types.Instance] { … },
//	})
//	instance, err := describe.Call(ctx, "i-0123") // from any number of goroutines
//
// The first call opens a window. The window closes after Idle without another call, Max after the first call, or with MaxItems calls, and
// never contains more. Each caller waits under its own context: a caller that leaves early does not cancel the call of another caller, and
// the merged call runs until its last caller has left. Transient errors, mainly throttling, are retried within the batch, with jitter, so
// that a thousand callers don't repeat their calls at the same time. A Batcher has no goroutine while no caller waits.
package batch
