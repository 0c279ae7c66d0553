// Package fake provides a cloud in memory that sells any list of instance types and fulfils the contract of package cloudprovider. It is
// for tests, benchmarks, demonstrations and simulations.
//
//	clock := fake.NewSimClock(time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC))
//	cloud, err := fake.New(fake.GenericTypes(60), fake.Options{
//		Clock:         clock,
//		LaunchLatency: 40 * time.Second,
//		OnLaunch:      func(i fake.Instance) { nodes = append(nodes, i.Node()) },
//	})
//	claim, err := cloud.Create(ctx, nodeClaim) // the instance is pending
//	clock.Advance(time.Minute)
//	cloud.Settle() // it has booted: OnLaunch was called
//
// A [Cloud] implements cloudprovider.CloudProvider and all its optional interfaces. It also has controls for tests: [Cloud.SetStock] and
// [Cloud.SetAvailable] for offerings, [Cloud.Inject] for errors, [Cloud.Interrupt] for reclaims and maintenance,
// [Cloud.SetNodeClassStatus], [Cloud.SetImageID], [Cloud.SetDrift], [Cloud.HoldRegistration].
//
// # Time
//
// No method sleeps, and nothing runs in the background. An instance starts to run, or is gone, as soon as the clock has passed the planned
// time. The cloud notices this at the next call of any method, or of [Cloud.Settle]. [Cloud.NextChange] returns the time of the next
// change, so that a simulation can move its clock to that time. With a [SimClock] and calls from one goroutine everything is reproducible,
// including the names of instances.
//
// # Trouble
//
// The following methods cause one certain fault at a certain time: [Cloud.SetStock] and [Cloud.SetQuota] for launches, [Cloud.Inject] and
// [Cloud.Heal] for errors and lost answers, [Cloud.BrownOut], [Cloud.ExpireCredentials] and [Cloud.Stall] for the cloud as a whole,
// [Cloud.FailInstance] and [Cloud.Interrupt] for instances, [Cloud.SetPrices] for prices. [FaultModel] makes random faults from a seed.
// With Options.ListLag, List shows changes late.
//
// # Logs
//
// With Options.OnEvent, a cloud reports all calls, all changes by tests, and all internal events. [WriteLog] and [ReadLog] write and read
// such a log as JSON, with one event per line. [Replay] repeats all events of a log, so that a failure can be examined.
//
// # Hooks
//
// OnLaunch and OnTerminate are called without holding a lock, one at a time, in the order of the events. Hooks may call the cloud. If all
// calls come from one goroutine, the hooks have run when the call returns. With several goroutines, another goroutine may still be running
// the hooks.
//
// Stability: beta.
package fake
