// Package v1alpha5 holds Provisioner and Machine of the API group karpenter.sh as releases up to 0.32 wrote them, with
// their defaults and validation, and converts them to and from package api/v1beta1 and, in one more step, package api/v1,
// which is what everything else in the library works on. It does no I/O and reads no clock.
//
// The smallest real use: read a manifest of that generation and go on with v1.
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
// What the options say of AWS is in package aws/convert, which also converts many objects at once.
//
// # Conversion
//
// A conversion is a pure function: it never changes its argument, and gives the same result for the same input. All that
// is left out, or means something else afterwards, is said by a warning with a code (package api/conversion). A warning
// of severity error stops the object unless ConvertOptions.Force is set.
//
// What has no place in v1beta1 is residue: Provisioner.Provenance and Machine.Provenance return it next to the kind the
// object was born as, and ProvisionerFromV1Beta1 and MachineFromV1Beta1 put it back. To v1beta1 and back, and to v1 and
// back, gives the object back, except for what the warnings say. Residue is never written into an object.
//
// An inline provider block is not converted here: the pool refers to a node class with the Provisioner's name, and package
// aws/convert creates that node class.
//
// # Deliberate differences
//
// ConvertOptions.ReferenceCompat gives what Karpenter's conversion tool gives instead:
//
//   - The kind and version of the node template are rewritten to those of the node class; the tool copies them.
//   - Labels that are gone are an error in requirements; the tool copies them.
//   - Consolidation together with ttlSecondsAfterEmpty is an error; the tool lets consolidation win.
//   - A Provisioner that never scales down keeps doing so; what the tool writes turns consolidation on.
//   - The annotation of nodes karpenter.sh/do-not-consolidate is renamed; the tool copies it.
//
// And in every mode: the requirements of a Machine that is made of a node leave the host name out, since no
// generation takes a requirement on it.
//
// The types carry no locks: an object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: stable.
package v1alpha5
