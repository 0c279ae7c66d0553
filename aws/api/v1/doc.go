// Package v1 holds AWS's node class, EC2NodeClass of the API group karpenter.k8s.aws: everything about a pool's machines
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
// Validate refuses what the API server would refuse, and what the reference's controller would refuse later. Whether
// subnets, images or roles exist is for package aws to find out.
//
// # Deliberate differences
//
//   - Defaults are a function, not only the API server's business (AWN-004), and there is one set of them (AWN-036).
//   - A malformed alias is an error, never the end of the process; it has exactly one @ (AWN-013).
//   - A selector list with one bad term among good ones is refused (AWN-024), as is an SSM parameter beside an id or an
//     alias (AWN-023).
//   - Volumes may have any size from 1G to 64Ti (AWN-030), and a mapping needs its ebs block (AWN-034).
//   - Of the kubelet block all errors are reported, not only the first wrong type (AWN-051).
//   - Expressions in the kubelet block are told apart from numbers and refused unless the provider says it acts on them;
//     the language is none of this package's (AWN-063 to AWN-070).
//   - Labels are data that a provider declares; nothing is registered anywhere (AWN-007).
//   - Classes of v1beta1 are nothing to this package: only v1 is looked after, and what older manifests become is said where
//     they are converted (AWN-085 to AWN-089, AWN-092 to AWN-094). Its reserved tags are refused as v1's are (AWN-090).
//   - Numbers of the drift hash are our own, with a version of their own (AWN-272); printer columns, short names and the
//     like are in the CRD (AWN-002).
//
// # Concurrency
//
// An object may be read by many goroutines at once as long as nobody changes it.
package v1
