// Package replay lets days of arrivals and departures pass over a cluster in seconds, through the planners and the fake cloud,
// and records what that costs and how long pods wait.
//
//	result, err := replay.Run(ctx, replay.Options{Snapshot: snapshot, Trace: trace, Length: 30 * 24 * time.Hour, Seed: 1})
//	if err != nil {
//		return err
//	}
//	fmt.Println(result.Cost, result.Pending(0.99), result.Evictions)
//
// It is a discrete-event simulation: nothing happens between two events, and the clock jumps from one to the next. Pods that
// wait are planned in batches (package provisioning), nodes are bought from the fake cloud, which takes spot nodes back
// by chance, and every so often the disruption planner looks whether the fleet could be smaller. The same options give the
// same result: all chance comes from Options.Seed.
//
//	trace      pods of a CSV file                        trace.go
//	options    what is run                               options.go
//	events     what happens when                         events.go
//	engine     passes, launches, departures              engine.go
//	devices    what drivers publish, claims have         publish.go, devices.go
//	disrupt    consolidation and interruptions           disrupt.go
//	record     series, percentiles, the packing          record.go, refusals.go
//	page       all of it as a page with charts           page.go, charts.go
//
// What is simplified: a pod is bound as soon as its node is ready; a node that is emptied is gone after Options.Drain; a pod
// that is evicted starts again and stays until its time as if nothing had happened. DaemonSets are planned for and not run. Drivers
// publish the devices of a node as soon as it is ready; a claim has its devices while a pod that uses it is on a node.
package replay
