// Package requirements is the algebra of label constraints: what a pod demands of a node, what a NodePool allows and
// what an instance type offers are all written as a [Set] of [Requirement]s, one per label key.
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
// Requirements and Sets are immutable values: every operation returns a new one, and they may be shared between
// goroutines. Value lists are kept sorted, so that equal requirements print, serialise and compare equal.
//
// Which keys are well known, restricted, or aliases of others is not known to the package: it is a [Vocabulary],
// plain data that a cloud provider extends and that callers hand in ([CoreVocabulary] is the common part). A
// [Lookup] is a Vocabulary made ready for many questions; validation and alias-aware parsing take one.
//
// Stability: stable.
package requirements
