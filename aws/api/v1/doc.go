// Package v1 holds AWS's node class, EC2NodeClass of the API group karpenter.k8s.aws: everything about a pool's instances
// that is EC2's own business (subnets, security groups, images, user data, volumes, the instance's role). It brings the
// kind's defaults, validation, conditions, the drift hash, and the label keys that AWS knows. It makes no AWS calls and
// imports no AWS SDK.
//
// The smallest real use: read a manifest, fill in what it leaves out, and say what is wrong with it.
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
// Validate refuses what the API server would refuse, and what Karpenter's controller would refuse later. Whether
// subnets, images or roles exist is for package aws to find out.
//
// # Deliberate differences
//
//   - Defaults are a function, not only the API server's business, and there is one set of them.
//   - A malformed alias is an error, never the end of the process; it has exactly one @.
//   - A selector list with one bad term among good ones is refused, as is an SSM parameter next to an id or an alias.
//   - Volumes may have any size from 1G to 64Ti, and a mapping needs its ebs block.
//   - Of the kubelet block all errors are reported, not only the first wrong type.
//   - Expressions in the kubelet block are told apart from numbers and refused unless the provider says it acts on them;
//     the language is none of this package's.
//   - Labels are data that a provider declares; nothing is registered anywhere.
//   - Classes of v1beta1 are nothing to this package: only v1 is managed, and what older manifests become is said where
//     they are converted. Its reserved tags are refused as v1's are.
//   - Numbers of the drift hash are our own, with a version of their own; printer columns, short names and the like are
//     in the CRD.
//
// # Concurrency
//
// An object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: stable.
package v1
