// Package v1beta1 contains EC2NodeClass of the API group karpenter.k8s.aws as in releases 0.32 to 0.37, with its defaults and validation,
// and converts it to and from package aws/api/v1, which the rest of the library uses. It makes no AWS calls and imports no AWS SDK.
//
// The smallest real use: read a manifest of that generation and convert it to v1.
//
//	var old v1beta1.EC2NodeClass
//	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
//		return err
//	}
//	class, warnings := old.ToV1(v1beta1.ConvertOptions{})
//	for _, w := range warnings {
//		log.Println(w)
//	}
//	if err := warnings.Err(); err != nil {
//		return err
//	}
//
// A conversion is a pure function: it never changes its argument, and returns the same result for the same input. Each loss or change of
// meaning is reported as a warning with a code (package api/conversion). With a warning of severity error there is no object unless
// ConvertOptions.Force is set.
//
// Metadata options are written explicitly, because the default hop limit of the two generations differs. A class without image terms gets
// an alias. Ubuntu becomes AL2 with the given images. Converting from v1beta1 to v1 and back returns the same node class, except for what
// the warnings say and with explicit metadata options. The kubelet block belongs to a pool in v1beta1, see package api/v1beta1. Status is
// observed again, so its losses cause no warnings.
//
// # Deliberate differences
//
//   - A node class without metadata options keeps the hop limit 2. With ConvertOptions.ReferenceCompat it gets 1, the default in the
//     schemas of release 1.0. With this option, the conversion also returns terms with an id and other conditions, as Karpenter does, with
//     a warning that the API refuses them.
//   - Volumes may have any size from 1G to 64Ti.
//   - The conversion back removes the fields that Ubuntu's annotation lists only if they are unchanged.
//
// The types have no locks: goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: stable.
package v1beta1
