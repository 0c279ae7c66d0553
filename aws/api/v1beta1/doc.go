// Package v1beta1 holds EC2NodeClass of the API group karpenter.k8s.aws as releases 0.32 to 0.37 wrote it, with its defaults
// and validation, and converts it to and from package aws/api/v1, which is what everything else in the library works on.
// It makes no AWS calls and imports no AWS SDK.
//
// The smallest real use: read a manifest of that generation and go on with v1.
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
// A conversion is a pure function: it never changes its argument, and gives the same result for the same input. All that
// is left out, or means something else afterwards, is said by a warning with a code (package api/conversion). A warning of
// severity error stops the object unless ConvertOptions.Force is set.
//
// Metadata options are written out in full, since the two generations differ in the default of the hop limit; images
// without terms become an alias; Ubuntu becomes AL2 with the images given. From v1beta1 to v1 and back gives the node class
// back, except for what the warnings say and with its metadata options written out. The kubelet block is a pool's in v1beta1
// and stays with it here: see package api/v1beta1. Status is observed again, so what it loses is not warned of.
//
// # Deliberate differences
//
//   - A node class without metadata options keeps the hop limit 2 it had. With ConvertOptions.ReferenceCompat it gets 1,
//     as from the schemas of release 1.0. Terms with an id and other conditions are given too then, as Karpenter gives them,
//     with a warning: the API refuses them.
//   - Volumes may have any size from 1G to 64Ti.
//   - What Ubuntu's annotation says was made up is removed on the way back only while it still is what was made up.
//
// The types carry no locks: an object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: stable.
package v1beta1
