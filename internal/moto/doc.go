// Package moto starts a moto server (https://docs.getmoto.org), an independent simulation of AWS, for integration tests. A proxy in front
// of moto answers calls that moto lacks, and injects faults of a real cloud.
//
//	var server moto.Server // of the test package
//
//	func TestMain(m *testing.M) { os.Exit(server.Run(m)) }
//
//	func TestLaunch(t *testing.T) {
//		cloud := server.Start(t) // skips the test when there is no moto
//		cloud.Fail("CreateFleet", 2, 503, "RequestLimitExceeded", "slow down")
//		clients, err := sdk.Load(t.Context(), sdk.Config{Endpoint: cloud.URL(), Base: …})
//		…
//		calls := cloud.Calls("CreateFleet")
//	}
//
// DRAWKNIFE_MOTO names the program to start. The command .ci/run installs it. The comment of Cloud lists the differences between moto and
// EC2 that the proxy corrects.
package moto
