// Package clusterdebug reports what a controller knows about its cluster, for people who watch it. The reports are made from what the
// controller has in memory.
//
//	reporter := clusterdebug.New(clusterdebug.Sources{Leader: leader.Load, State: state, Pools: pools, Plan: plan, Commands: commands, Now: time.Now, Log: log})
//	err := mgr.AddMetricsServerExtraHandler(clusterreport.Path, reporter)
//
// Stability: beta.
package clusterdebug
