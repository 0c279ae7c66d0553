// Package v1 has the API objects of the group karpenter.sh: NodePool, NodeClaim and NodeOverlay, with their defaults, validation,
// conditions, label and annotation keys, and the drift hash. It does no I/O and does not read the clock.
//
// The smallest real use: read a manifest, apply defaults, and validate it.
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
// In a cluster the API server fills in defaults; a library can't rely on that, so every kind has a Default method. Default changes only
// unset fields and is idempotent. Planners expect that Default was called.
//
// # Validation
//
// Validate checks what can be checked without other objects: durations, budgets, taints, limits, weights, references, the form of labels
// and requirements. Whether a label key is well known or restricted depends on the provider's vocabulary; package api/requirements checks
// that. ValidateUpdate also checks that the fields that must not change are unchanged.
//
// # Round trips
//
// Decoding and encoding preserves a document: durations keep their text, and nil and empty lists stay different where the meaning
// differs (budgets, reasons, requirements). Quantities are printed in Kubernetes' canonical form, as every Kubernetes client does.
//
// The types have no locks: goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: stable.
package v1
