// Package v1alpha1 holds AWSNodeTemplate of the API group karpenter.k8s.aws as releases up to 0.32 wrote it, and the inline
// provider block of a Provisioner, with validation, and converts them to and from packages aws/api/v1beta1 and
// aws/api/v1, the latter being what everything else in the library works on. It makes no AWS calls and imports no AWS SDK.
//
// The smallest real use: read a manifest of that generation and go on with v1.
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
// A conversion is a pure function: it never changes its argument, and gives the same result for the same input. All that
// is left out, or means something else afterwards, is said by a warning with a code (package api/conversion). A warning of
// severity error stops the object unless ConvertOptions.Force is set; all of them come at once.
//
// A selector map becomes terms: see ConvertOptions for what is done where a map says more than terms can. What has no
// place in a node class is residue, which AWSNodeTemplate.Provenance returns and FromV1Beta1 puts back.
//
// # Deliberate differences
//
// ConvertOptions.ReferenceCompat gives what Karpenter's conversion tool gives instead:
//
//   - Members that partly set metadata options leave out are written out as EC2 applied them; the tool leaves
//     them to the schema, which has other defaults.
//   - Sizes of volumes are written in units that the API takes; the tool prints what may be refused.
//   - Ids stand in terms of their own; the tool mixes them with other conditions, which is refused.
//   - Image tags without owners search self and amazon, as they did; the tool's search everybody.
//
// The types carry no locks: an object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: stable.
package v1alpha1
