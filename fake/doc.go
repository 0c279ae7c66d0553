// Package fake is a cloud in memory that sells any list of instance types and keeps the contract of package
// cloudprovider, for tests, benchmarks, demonstrations and simulations.
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
// A [Cloud] implements cloudprovider.CloudProvider and all its optional interfaces. In addition it has controls for tests:
// [Cloud.SetStock] and [Cloud.SetAvailable] for offerings, [Cloud.Inject] for errors, [Cloud.Interrupt] for
// reclaims and maintenance, [Cloud.SetNodeClassStatus], [Cloud.SetImageID], [Cloud.SetDrift], [Cloud.HoldRegistration].
//
// # Time
//
// Nothing sleeps and nothing runs in the background. An instance becomes running, or gone, when the clock has passed the
// moment; that is noticed at the next call of any method, or of [Cloud.Settle]. [Cloud.NextChange] says when something
// will happen next, so that a simulation can jump there. With a [SimClock] and calls from one goroutine everything is
// reproducible, names of instances included.
//
// # Trouble
//
// Levers make a certain trouble at a certain moment: [Cloud.SetStock] and [Cloud.SetQuota] for launches, [Cloud.Inject] and
// [Cloud.Heal] for errors and lost answers, [Cloud.BrownOut], [Cloud.ExpireCredentials] and [Cloud.Stall] for the cloud as a
// whole, [Cloud.FailInstance] and [Cloud.Interrupt] for instances, [Cloud.SetPrices] for prices. [FaultModel] makes trouble by
// chance, from a seed; Options.ListLag has List learn of everything later.
//
// # Logs
//
// With Options.OnEvent a cloud reports all calls, changes and happenings. [WriteLog] and [ReadLog] keep such a log as JSON, one
// event a line. [Replay] does it all again, and gives the same events: what went wrong once can be looked at.
//
// # Hooks
//
// OnLaunch and OnTerminate are called without any lock, one at a time, in the order in which things happened; they may
// call the cloud. When all calls come from one goroutine, the hooks have run when the call returns; otherwise another
// goroutine may be running them.
//
// Stability: beta.
package fake
