// Package v1beta1 holds NodePool and NodeClaim of the API group karpenter.sh as releases 0.32 to 0.37 wrote them, with
// their defaults and validation, and converts them to and from package api/v1, which is what everything else in the
// library works on. It does no I/O and reads no clock.
//
// The smallest real use: read a manifest of that generation and go on with v1.
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
// A conversion is a pure function: it never changes its argument, and gives the same result for the same input. All that
// is left out, or means something else afterwards, is said by a warning with a code (package api/conversion). A warning
// of severity error stops the object unless ConvertOptions.Force is set.
//
// Two things are written out that a v1beta1 object may leave to its defaults, because v1 reads them differently:
// consolidationPolicy and expireAfter. The kubelet block, which v1 keeps in the node class, goes to the annotation
// KubeletAnnotationKey and comes back from there; to move it to the node class takes the node class, which this package
// does not see. Status is observed again by anyone who acts on the object, so what it loses is not warned of: the severity of
// conditions, the conditions Empty and Expired, and on the way back what v1 alone observes.
//
// From v1beta1 to v1 and back gives the object back, except for what the warnings say, the two defaults, and status as
// above. From v1 to v1beta1 is offered for parity: v1 says more than v1beta1 can.
//
// # Deliberate differences
//
// ConvertOptions.ReferenceCompat gives what Karpenter's conversion webhook gives instead:
//
//   - Consolidation that is off (WhenUnderutilized with consolidateAfter Never) stays off; the webhook turns it on, and
//     forgets Never on the way back.
//   - The node class reference is not kept in an annotation; on the way back its apiVersion is written as the
//     group with version v1beta1, and the webhook writes none without the annotation.
//
// The types carry no locks: an object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: stable.
package v1beta1
