// Package conformance tests a provider against the contract of package cloudprovider, clause by clause.
//
//	func TestConformance(t *testing.T) {
//		options := conformance.DefaultOptions()
//		options.Levels = []conformance.Level{conformance.Core}
//		report := conformance.Run(t, func(t testing.TB) conformance.Subject {
//			provider, err := mycloud.New(mycloud.Options{})
//			if err != nil {
//				t.Fatal(err)
//			}
//			return conformance.Subject{Provider: provider}
//		}, options)
//		report.WriteMarkdown(os.Stdout)
//	}
//
// Each clause is a sub-test: `go test -run 'TestConformance/Core/CP-CREATE-02'`. A provider alone is enough. A clause that must
// change the cloud, for example sell out an offering, is skipped unless the factory has the hook for it (see [Hooks]); the report
// names the hook. [Check] returns the report without failing the test.
//
// # Levels
//
// Core is every provider's. Spot and Reserved are for clouds that sell these, Drift, Repair and Interruption for providers
// that implement DriftDetector, Repairer and InterruptionSource; without, all of the level is skipped. NodeClassStatus and
// RegistrationGate are tested in Core where they are implemented.
//
// # Random histories
//
// Laws about any sequence of calls are tried on random ones with rapid: launches, repetitions, deletions, restarts and, where
// there is the hook Inject, lost answers, throttling and brown-outs. What breaks a law is made as short as possible, listed
// call by call and charged to the clause it breaks. The message ends with the flags that repeat it: -rapid.seed or, with the
// file that rapid has written under testdata/rapid, -rapid.failfile. Options.Trials bounds the number of histories.
//
// # Time
//
// Without the hook Advance time is real. A run never outlasts the deadline of its test: what there is no time for fails with
// what to do about it, and the report is complete.
//
// # Live clouds
//
// On a real cloud the factory gives the same provider each time, Options.Parallel is small, Options.Patience is what instances
// take to join and to be gone (ten minutes, say), go test's -timeout is long, Options.RunID differs in each run,
// Subject.Requirements keep instances cheap, and Hooks.Instances reports what nodes report as allocatable. What the provider
// models too high breaks CP-CATALOG-14; all differences are in the report as a table of corrections ([CorrectionTable]).
// The kit ends the instances that it has launched; that all are gone is for the operator to see.
//
// Package engine, below this one, plugs a provider into the planners.
//
// Stability: beta.
package conformance
