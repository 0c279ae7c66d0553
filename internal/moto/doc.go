// Package moto starts a moto server (https://docs.getmoto.org), an AWS that nobody here wrote, for integration tests, with a
// proxy before it that answers what moto lacks and makes the faults of a real cloud.
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
// The program is the one named by DRAWKNIFE_MOTO; .ci/run installs it. Where moto differs from EC2 and the difference
// matters, the proxy makes it good: see Cloud.
package moto
