// Package v1beta1 contains NodePool and NodeClaim of the API group karpenter.sh as in releases 0.32 to 0.37, with their defaults and
// validation. It converts them to and from package api/v1, which the rest of the library uses. It does no I/O and does not read the
// clock.
//
// The smallest real use: read a manifest of that generation and convert it to v1.
//
//	var old v1beta1.NodePool
//	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
//		return err
//	}
//	pool, warnings := old.ToV1(v1beta1.ConvertOptions{NodeClass: schema.GroupKind{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass"}})
//	for _, w := range warnings {
//		log.Println(w)
//	}
//	if err := warnings.Err(); err != nil {
//		return err
//	}
//
// # Conversion
//
// A conversion is a pure function: it never changes its argument, and returns the same result for the same input. Each loss or change of
// meaning is reported as a warning with a code (package api/conversion). With a warning of severity error there is no object unless
// ConvertOptions.Force is set.
//
// Two fields are written explicitly, because they have other defaults in v1: consolidationPolicy and expireAfter. In v1 the kubelet block
// is in the node class, which this package does not have. The conversion stores the block in the annotation KubeletAnnotationKey, and
// restores it from there. Package aws/convert moves it to the node class. Losses in status cause no warnings, because controllers observe
// the status again. Lost are the severity of conditions, the conditions Empty and Expired, and in the conversion back the fields that only
// v1 has.
//
// Converting from v1beta1 to v1 and back returns the same object, except for what the warnings say, the two defaults, and status. The
// conversion from v1 to v1beta1 loses fields that only v1 has.
//
// # Deliberate differences
//
// With ConvertOptions.ReferenceCompat, the result is that of Karpenter's conversion webhook. Without ReferenceCompat, the result is
// different in these points:
//
//   - Consolidation that is off (WhenUnderutilized with consolidateAfter Never) stays off; the webhook turns it on, and
//     does not restore Never in the conversion back.
//   - The node class reference is not kept in an annotation. The conversion back writes an apiVersion with the reference's group and
//     version v1beta1; the webhook writes no apiVersion without the annotation.
//
// The types have no locks: goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: stable.
package v1beta1
