// Package replay simulates days in which pods arrive and end, within seconds, with the planners and the fake cloud. It records the costs
// and the waiting times.
//
//	result, err := replay.Run(ctx, replay.Options{Snapshot: snapshot, Trace: trace, Length: 30 * 24 * time.Hour, Seed: 1})
//	if err != nil {
//		return err
//	}
//	fmt.Println(result.Cost, result.Pending(0.99), result.Evictions)
//
// It is a discrete-event simulation: the clock jumps from one event to the next. Pending pods are planned in batches (package
// provisioning). Nodes are launched in the fake cloud, which interrupts spot nodes at random. At a fixed interval, the disruption planner
// checks whether nodes can be removed or replaced. The same options give the same result: all random choices come from Options.Seed.
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
// The simulation is simplified. A pod is bound as soon as its node is ready. An emptied node is removed after Options.Drain. An evicted pod
// starts again and ends at its original time. Plans include the requests of DaemonSet pods, but these pods do not run. Drivers publish the
// devices of a node as soon as the node is ready. A claim has its devices while a pod that uses the claim is on a node.
package replay
