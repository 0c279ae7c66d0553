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
// It differs from the reference on purpose: only a parameter that does not exist is passed over, anything else that
// keeps a parameter from being read is an error, lest a refused call look like a missing image (AWN-121); an alias of
// which no parameter exists finds nothing, which is no error; two parameters that name one image add up (AWN-126);
// answers are shared by all classes that ask the same (AWN-355); and each term's outcome is told (AWN-337).
//
// A Resolver may be used by many goroutines at once, holds no lock during calls, and starts nothing.
package amis
