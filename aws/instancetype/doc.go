// Package instancetype converts EC2 facts to instance types for planners: labels, capacity, system reservations, and offerings with prices.
// It makes no AWS calls, reads no clock and has no state. The same catalogue and settings give the same result.
//
//	facts, err := catalog.Embedded()
//	if err != nil { … }
//	types, err := instancetype.Resolve(facts, nil, instancetype.Options{}) // nil: the default node class
//
// [Settings] contains the relevant part of a node class; [NewSettings] reads them from an EC2NodeClass. A type that can't be launched with
// a class (see [Incompatible]) is listed with unavailable offerings; types that can never be nodes of the class are left out (see
// [Resolve]).
//
// Providers that know prices and stock from elsewhere use [Shapes], which contain everything except the offerings.
//
// Every type states every key of [Vocabulary], as absent if it does not apply; only karpenter.sh/nodepool is left to the pool. Capacity and
// overhead give exactly the same allocatable resources as Karpenter's AWS provider.
//
// Settings can enable what Karpenter does not have: pod limits by address prefixes, custom networking or another network ([PodDensity]), a
// memory estimate from measurements ([MemoryPriorMeasured]), parts of GPUs as GPUs (Settings.FractionalGPUs), resources for accelerators
// that are neither GPUs nor Neuron devices, and huge pages.
//
// # Deliberate differences
//
//   - For a zone in which instances can't be launched, Resolve returns no offering, while the provider lists an unavailable offering.
//   - A type that can never be used is left out, because planners would only skip it.
//   - If a zone id is unknown, the type states that the label is absent: a label without a stated value would match every value that a pod
//     asks for.
//   - A percentage eviction threshold refers to the discovered memory if known, so that threshold and capacity can't contradict each other.
//   - Kubelet expressions are refused instead of ignored, so that users notice a mistake when they write the class.
//
// Stability: beta.
package instancetype
