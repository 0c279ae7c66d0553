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
// Validate refuses what the API server would refuse, what the reference's controller would refuse later, and a few
// slips that both let through (a selector list with one bad term among good ones, an alias with two @); each such
// place says so. Whether subnets, images or roles exist is for package aws to find out.
//
// An object may be read by many goroutines at once as long as nobody changes it.
package v1
