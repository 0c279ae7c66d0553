// Package gate judges a change of a cluster by a policy: limits on added cost, pods without a place, drifted nodes, evictions, the share of
// spot nodes, and workloads on a single node.
//
//	policy, err := gate.Read("budget.yaml", file)
//	if err != nil {
//		return err // all faults of the file, with lines and field paths
//	}
//	report := gate.Evaluate(policy, facts)
//	os.Exit(report.Status())
//
// A report can be written as SARIF, for code scanning, and as JUnit, for the test reports of CI systems.
package gate
