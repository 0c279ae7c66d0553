// Package harness gives tests a cluster: a real control plane without nodes of its own (package plane), a fake cloud whose
// instances join it as nodes (packages fake and kubelet), and functions that wait for conditions and report what went wrong.
//
//	var server harness.Server // of the test package; TestMain calls server.Stop
//
//	func TestScaleUp(t *testing.T) {
//		cluster := server.Start(t, harness.Options{}) // skips the test when the control plane is not built
//		cluster.CreateDeployment("inflate", 5, harness.Pod("1", "1Gi"))
//		… start a controller on cluster.Config() and cluster.Cloud …
//		cluster.Eventually("5 pods run", time.Minute, cluster.PodsRun("inflate", 5))
//	}
//
// Nodes, pools and claims belong to no namespace, so that the tests of a package run one after the other. Each leaves the
// cluster empty; one that fails shows pods, nodes, claims and instances, and its artifacts (go test -artifacts) hold them in
// full, with the logs of the control plane.
package harness
