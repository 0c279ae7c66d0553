// Package v1 contains AWS's node class, EC2NodeClass of the API group karpenter.k8s.aws: everything about a pool's instances that is
// specific to EC2 (subnets, security groups, images, user data, volumes, the instance's role). It also contains the kind's defaults,
// validation, conditions, the drift hash, and AWS's label keys. It makes no AWS calls and imports no AWS SDK.
//
// The smallest real use: read a manifest, set defaults, and report what is wrong with it.
//
//	var class awsv1.EC2NodeClass
//	if err := yaml.UnmarshalStrict(manifest, &class); err != nil {
//		return err
//	}
//	class.Default()
//	if errs := class.Validate(); len(errs) > 0 {
//		return errs.ToAggregate()
//	}
//
// Validate refuses what the API server would refuse, and what Karpenter's controller would refuse later. Package aws checks whether
// subnets, images or roles exist.
//
// # Deliberate differences
//
//   - The API server and a function of this package set the same defaults.
//   - A malformed alias is an error, never a panic. An alias has exactly one @.
//   - A selector list with an invalid term is refused even if other terms are valid. An SSM parameter together with an id or an alias is
//     also refused.
//   - Volumes may have any size from 1G to 64Ti, and a mapping needs its ebs block.
//   - All errors of the kubelet block are reported, not only the first wrong type.
//   - Expressions in the kubelet block are distinguished from numbers and refused unless the provider supports them; this package does not
//     interpret them.
//   - Labels are data that a provider declares; there is no global registry.
//   - This package does not handle v1beta1 classes: only v1 is managed, and the packages that convert older manifests describe the results.
//     Reserved tags of v1beta1 are refused like those of v1.
//   - The drift hash has its own version and differs from Karpenter's; printer columns, short names and the like are in the CRD.
//
// # Concurrency
//
// Goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: stable.
package v1
