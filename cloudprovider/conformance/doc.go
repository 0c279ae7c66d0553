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
// Each clause is a sub-test: `go test -run 'TestConformance/Core/CP-CREATE-02'`. The factory needs to return only a provider. A clause that
// must change the cloud, for example sell out an offering, is skipped unless the factory provides the hook for this change (see [Hooks]).
// The report names the hook. [Check] returns the report without failing the test.
//
// # Levels
//
// Core is for every provider. Spot and Reserved are for clouds that sell such capacity. Drift, Repair and Interruption are for providers
// that implement DriftDetector, Repairer and InterruptionSource; otherwise the whole level is skipped. NodeClassStatus and RegistrationGate
// are tested in Core if they are implemented.
//
// # Random histories
//
// The clauses about sequences of calls are tested with random sequences, which package rapid generates: launches, repetitions, deletions,
// restarts and, with the hook Inject, lost answers, throttling and brown-outs. If a sequence breaks a clause, it is shortened as far as
// possible, listed call by call, and reported under the broken clause. The message ends with the flags that repeat the sequence:
// -rapid.seed or, for the file that rapid has written under testdata/rapid, -rapid.failfile. Options.Trials is the maximum number of
// sequences.
//
// # Time
//
// Without the hook Advance, clauses wait in real time. A run ends before the deadline of its test: clauses that do not have enough time
// left fail and say what to change, and the report is complete.
//
// # Live clouds
//
// For a real cloud, the factory should return the same provider each time. Options.Parallel should be small, and Options.RunID should be
// different in each run. Options.Patience should be as long as instances take to join and to disappear (for example ten minutes), and the
// -timeout of go test should be long. Subject.Requirements should keep instances cheap, and Hooks.Instances should return what nodes report
// as allocatable. If the provider's model of an instance type promises more than the real node has, CP-CATALOG-14 fails. The report lists
// all differences as a table of corrections ([CorrectionTable]). The kit terminates the instances that it has launched; the operator should
// verify that all are gone.
//
// Package engine, below this one, connects a provider to the planners.
//
// Stability: beta.
package conformance
