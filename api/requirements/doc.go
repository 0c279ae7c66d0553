// Package requirements computes with label constraints. A [Set] contains one [Requirement] for each label key. It describes the nodes that
// a pod requires, that a NodePool allows or that an instance type offers.
//
//	pool := requirements.NewSet(
//		requirements.In("kubernetes.io/arch", "amd64", "arm64"),
//		requirements.Gt("example.com/cpu", 3),
//	)
//	pod := requirements.NewSet(requirements.In("kubernetes.io/arch", "arm64"))
//	if err := pool.Compatible(pod, nil); err != nil {
//		return err // *IncompatibleError: which key, what each side says, and why
//	}
//	narrowed := pool.Merge(pod) // arch In [arm64]; cpu Gte 4
//
// Requirements and Sets are immutable: every operation returns a new value, and goroutines may share them. Value lists are sorted, so
// equal requirements print, serialise and compare equal.
//
// The package does not decide which keys are well known, restricted, or aliases of others: callers pass a [Vocabulary], plain data that a
// cloud provider extends. [CoreVocabulary] is the part that all providers have in common. A [Lookup] is an indexed Vocabulary, which
// validation and parsing with aliases need.
//
// Stability: stable.
package requirements
