// Package zonalshift follows ARC zonal shifts: zones that a cluster is taken out of for a while, by its operators or by
// AWS itself, and where nothing is to be launched meanwhile.
//
//	arn, err := zonalshift.ClusterARN(ctx, eksAPI, "my-cluster")
//	if err != nil { … }
//	watcher := zonalshift.New(zonalAPI, arn, nil)
//	change, err := watcher.Poll(ctx) // every zonalshift.Period
//	shifted := watcher.Snapshot().Shifted("use1-az2")
//
// # Deliberate differences
//
//   - An answer replaces what was known, instead of being laid over it: a shift that was taken back ends at once.
//   - Shifts that AWS starts by itself count as well.
package zonalshift
