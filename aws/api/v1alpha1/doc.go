// Package v1alpha1 contains AWSNodeTemplate of the API group karpenter.k8s.aws as in Karpenter up to 0.32, and the inline provider block of
// a Provisioner, with validation. It converts them to and from packages aws/api/v1beta1 and aws/api/v1; the rest of the library uses
// aws/api/v1. It makes no AWS calls and imports no AWS SDK.
//
// The smallest real use: read a manifest of that generation and convert it to v1.
//
//	var old v1alpha1.AWSNodeTemplate
//	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
//		return err
//	}
//	class, warnings := old.ToV1(v1alpha1.ConvertOptions{NodeRole: "nodes"})
//	for _, w := range warnings {
//		log.Println(w)
//	}
//	if err := warnings.Err(); err != nil {
//		return err
//	}
//
// A conversion is a pure function: it never changes its argument, and returns the same result for the same input. Each loss or change of
// meaning is reported as a warning with a code (package api/conversion). With a warning of severity error there is no object unless
// ConvertOptions.Force is set; all such warnings are reported at once.
//
// A selector map becomes terms: see ConvertOptions for maps that terms can't express. Parts that a node class can't represent are returned
// by AWSNodeTemplate.Provenance and restored by FromV1Beta1.
//
// # Deliberate differences
//
// ConvertOptions.ReferenceCompat produces the result of Karpenter's conversion tool. Without it, the result is different in these points:
//
//   - Members that a metadata options block leaves out get EC2's defaults explicitly; the tool leaves them to the schema, which has other
//     defaults.
//   - Sizes of volumes use units that the API accepts; the tool may print invalid ones.
//   - Ids get separate terms; the tool mixes them with other conditions, and the API refuses such terms.
//   - Image tags without owners select images of self and amazon, as before; with the tool's terms they select images of all owners.
//
// The types have no locks: goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: stable.
package v1alpha1
