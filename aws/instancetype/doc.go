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
// is the pool's business. Capacity and overhead give exactly the allocatable resources of Karpenter's AWS provider.
//
// Beyond the reference, when settings ask for it: pod limits by address prefixes, custom networking or another network
// ([PodDensity]), a prior for memory that follows measurements ([MemoryPriorMeasured]), parts of GPUs as GPUs
// (Settings.FractionalGPUs), resources for accelerators that are neither GPUs nor Neuron devices, and huge pages.
//
// # Deliberate differences
//
//   - Resolve gives a zone that instances can't be launched in no offering instead of an unavailable one; the provider
//     lists it.
//   - A type that would be unusable whatever happens is left out: planners would only skip it.
//   - A zone id that is unknown is absent instead of left open: an open key matches whatever a pod asks for.
//   - A percentage eviction threshold is of the discovered memory where there is one, so that threshold and capacity
//     can't contradict each other.
//   - Kubelet expressions are refused instead of dropped: a class that says something else than it means is found
//     when it is written.
//
// Stability: beta.
package instancetype
