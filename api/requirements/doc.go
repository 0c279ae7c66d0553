// Package requirements computes with label constraints. What a pod requires of a node, what a NodePool allows and what an instance type
// offers is a [Set] of [Requirement]s, one for each label key.
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
// cloud provider extends. [CoreVocabulary] is the common part. A [Lookup] is an indexed Vocabulary, which validation and parsing with
// aliases need.
//
// Stability: stable.
package requirements
