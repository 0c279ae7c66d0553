// Package harness provides clusters for tests. A cluster has a real control plane without nodes (package plane), and a fake cloud whose
// instances join it as nodes (packages fake and kubelet). Functions of this package wait for conditions and report failures.
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
// Nodes, pools and claims belong to no namespace, so the tests of a package run one after another. Each test leaves the cluster empty. A
// test that fails logs pods, nodes, claims and instances. Its artifacts (go test -artifacts) have all of them in full, with the logs of the
// control plane.
package harness
