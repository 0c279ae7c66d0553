// Package v1 holds the objects a user writes and reads: NodePool, NodeClaim and NodeOverlay of the API group
// karpenter.sh, with their defaults, their self-contained validation, their conditions, the label and annotation keys
// they speak in, and the drift hash. It does no I/O and reads no clock.
//
// The smallest real use: read a manifest, fill in what it leaves out, and say what is wrong with it.
//
//	var pool v1.NodePool
//	if err := yaml.UnmarshalStrict(manifest, &pool); err != nil {
//		return err
//	}
//	pool.Default()
//	if errs := pool.Validate(); len(errs) > 0 {
//		return errs.ToAggregate()
//	}
//
// # Defaults
//
// In a cluster the API server fills in defaults; a library can't rely on that, so every kind has a Default method.
// It changes only fields that are unset, applying it twice is applying it once, and planners expect it was called.
//
// # Validation
//
// Validate checks what an object can know about itself: durations, budgets, taints, limits, weights, references, the
// form of labels and requirements. Whether a label key is well known or restricted depends on the provider's
// vocabulary; package api/requirements checks that. ValidateUpdate adds the rules on what must not change.
//
// # Round trips
//
// Decoding and encoding gives the document back: durations keep the text they were written in, an absent list stays
// apart from an empty one where the two differ in meaning (budgets, reasons, requirements). Quantities are printed in
// Kubernetes' canonical form, as every Kubernetes client does.
//
// The types carry no locks: an object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: stable.
package v1
