// Package instanceprofile makes the IAM instance profiles that instances get their role from, and deletes those that
// nobody uses any more.
//
//	manager, err := instanceprofile.New(instanceprofile.Options{IAM: api, Region: "us-east-1", ClusterName: "demo"})
//	if err != nil { … }
//	name, err := manager.Ensure(ctx, instanceprofile.Wanted{
//		NodeClass: class.Name, UID: class.UID, Role: *class.Spec.Role, Current: class.Status.InstanceProfile,
//	})
//	…
//	deleted, err := manager.Collect(ctx, inUse) // every CollectEvery, in the caller's own loop
//
// A profile holds one role. When a node class changes its role it gets another profile, since instances that run still use
// the old one; that is collected once nobody does.
//
// Only where IAM can be reached is a manager of use. In an isolated network node classes name profiles that somebody else
// looks after.
//
// # Differences from Karpenter
//
// docs/differences.md lists what this package does otherwise than Karpenter, and why.
//
// # Concurrency
//
// A Manager may be used by many goroutines at once. Profiles are made and deleted one after the other, so that none is
// collected while it is taken up again; looking at one waits for nobody.
package instanceprofile
