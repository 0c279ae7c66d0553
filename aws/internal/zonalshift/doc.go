// Package zonalshift follows ARC zonal shifts: while operators or AWS shift a cluster away from a zone, no instances are launched there.
//
//	arn, err := zonalshift.ClusterARN(ctx, eksAPI, "my-cluster")
//	if err != nil { … }
//	watcher := zonalshift.New(zonalAPI, arn, nil)
//	change, err := watcher.Poll(ctx) // every zonalshift.Period
//	shifted := watcher.Snapshot().Shifted("use1-az2")
//
// # Deliberate differences
//
//   - An answer replaces the previous answer instead of being merged with it, so a cancelled shift ends at once.
//   - Shifts that AWS starts by itself are also followed.
package zonalshift
