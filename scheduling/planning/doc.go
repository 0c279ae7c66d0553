// Package planning holds the input and output of planners as plain data: the Snapshot of a cluster, the Query, and the Plan with its
// reasons. Package scheduling has the same types under the same names, and makes plans from snapshots; import this package if you only need
// the data:
//
//	snapshot, err := planning.DecodeSnapshot(file)
//	if err != nil {
//		return err // such as a *NotSnapshotError
//	}
//	fmt.Println(len(snapshot.Nodes), "nodes,", len(snapshot.Pods), "pods waiting")
//
// The types can also describe themselves: [Reason] and [NearestMiss] become sentences, [Diff] compares two plans, and a [CostModel] is
// parsed and validated. Nothing here decides anything.
//
//	Snapshot   a cluster at one moment                 snapshot.go, node.go, encode.go, encodeyaml.go, longtext.go, sizeerror.go,
//	                                                   snapshoterror.go, checkspread.go
//	           what nodes cost                         costmodel.go, costmodelcheck.go
//	Query      what is asked                           query.go
//	Plan       what is decided                         plan.go, preempted.go, diff.go
//	Reason     why a pod has no place                  reason.go, removednodes.go, rule.go, unknownname.go
//	           and what would have to be different     nearestmiss.go
//
// Stability: beta.
package planning
