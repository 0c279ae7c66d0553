// Package instancetype turns EC2 facts into instance types that a planner can work with: labels, capacity, what a node
// keeps for itself, and offerings with prices. It is pure: no AWS call, no clock, no state. The same catalogue and
// settings give the same result.
//
//	facts, err := catalog.Embedded()
//	if err != nil { … }
//	types, err := instancetype.Resolve(facts, nil, instancetype.Options{}) // nil: the default node class
//
// What of a node class matters is in [Settings]; [NewSettings] reads them from an EC2NodeClass. A type that can't be
// launched with a class (see [Incompatible]) is listed all the same, its offerings unavailable; types that no node of
// the class can ever be are left out (see [Resolve]).
//
// Providers that know prices and stock from elsewhere take [Shapes], which are all of that but the offerings.
//
// Every key of [Vocabulary] is stated for every type, as absent where it does not apply; karpenter.sh/nodepool alone
// is the pool's business. Capacity and overhead follow the numbered statements AWI-062 to AWI-085 of the
// specification, which comments and tests cite; they give exactly the allocatable resources of the reference, with
// these deliberate differences: a zone that machines can't be launched in has no offering instead of an unavailable
// one (AWI-091), a type that would be unusable whatever happens is left out (AWI-020, AWI-031), a zone id that is
// unknown is absent instead of left open (AWI-034), a percentage eviction threshold is of the discovered memory where
// there is one (AWI-067), and kubelet expressions are refused instead of dropped (AWI-084).
//
// Beyond the reference, when settings ask for it: pod limits by address prefixes, custom networking or another network
// ([PodDensity]), a prior for memory that follows measurements ([MemoryPriorMeasured]), parts of GPUs as GPUs
// (Settings.FractionalGPUs), resources for accelerators that are neither GPUs nor Neuron devices, and huge pages.
package instancetype
