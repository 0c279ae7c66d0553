// Package amis finds the images that the AMI terms of a node class select: by alias, id, name, owner, tags or SSM
// parameter, the newest of each kind.
//
//	resolver, err := amis.New(clients.EC2(sdk.Background), clients.SSM(sdk.Background), amis.Options{})
//	if err != nil { … }
//	result, err := resolver.Resolve(ctx, class.Spec.AMISelectorTerms, "1.33")
//	class.Status.AMIs = result.AMIs // empty: nothing was found, and result.Outcomes say why
//
// Each image comes with the instance types it boots on, as requirements: its architecture, and for images of an alias
// the accelerators they are made for. There is one image for each distinct set of requirements, and the list is in the
// order in which they are tried.
//
// # Deliberate differences
//
//   - Only a parameter that does not exist is passed over; anything else that keeps it from being read is an error, lest a
//     refused call look like a missing image. An alias of which no parameter exists finds nothing, which is no error
//     (AWN-121).
//   - Two parameters that name one image add up (AWN-126).
//   - Images that are equal in all that counts are told apart by id, not by EC2's order (AWN-132).
//   - Answers are shared by all classes that ask the same, not kept per class (AWN-136, AWN-355).
//   - Each term's outcome is told (AWN-337).
//
// The version of the control plane is the caller's to find out (AWN-120), and images are mapped to instance types by
// package launchtemplate (AWN-135).
//
// # Concurrency
//
// A Resolver may be used by many goroutines at once, holds no lock during calls, and starts nothing.
package amis
