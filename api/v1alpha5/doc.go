// Package v1alpha5 contains Provisioner and Machine of the API group karpenter.sh as in Karpenter up to 0.32, with their defaults and
// validation. It converts them to and from packages api/v1beta1 and api/v1; the rest of the library uses api/v1. It does no I/O and does
// not read the clock.
//
// The smallest real use: read a manifest of that generation and convert it to v1.
//
//	var old v1alpha5.Provisioner
//	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
//		return err
//	}
//	pool, warnings := old.ToV1(v1alpha5.ConvertOptions{NodeTemplate: …, NodeClass: …})
//	for _, w := range warnings {
//		log.Println(w)
//	}
//	if err := warnings.Err(); err != nil {
//		return err
//	}
//
// Package aws/convert has the options for AWS, and also converts many objects at once.
//
// # Conversion
//
// A conversion is a pure function: it never changes its argument, and returns the same result for the same input. Each loss or change of
// meaning is reported as a warning with a code (package api/conversion). With a warning of severity error there is no object unless
// ConvertOptions.Force is set.
//
// Fields that v1beta1 does not have are called residue. Provisioner.Provenance and Machine.Provenance return them together with the
// original kind, and ProvisionerFromV1Beta1 and MachineFromV1Beta1 restore them. Converting to v1beta1 and back, or to v1 and back,
// returns the same object, except for what the warnings say. Residue is never written into an object.
//
// An inline provider block is not converted here: the pool refers to a node class with the Provisioner's name, and package
// aws/convert creates that node class.
//
// # Deliberate differences
//
// With ConvertOptions.ReferenceCompat, the result is that of Karpenter's conversion tool. Without ReferenceCompat, the result is different
// in these points:
//
//   - The kind and version of the node template become those of the node class; the tool copies them.
//   - Requirements on removed labels are an error; the tool copies them.
//   - Consolidation together with ttlSecondsAfterEmpty is an error; the tool lets consolidation win.
//   - For a Provisioner that never scales down, the pool does not scale down either; the tool's result turns consolidation on.
//   - The node annotation karpenter.sh/do-not-consolidate is renamed; the tool copies it.
//
// In every mode, the requirements of a Machine that is made from a node do not contain the host name, because no generation accepts a
// requirement on it.
//
// The types have no locks: goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: stable.
package v1alpha5
