// Package instanceprofile creates the IAM instance profiles with the roles of instances, and deletes unused ones.
//
//	manager, err := instanceprofile.New(instanceprofile.Options{IAM: api, Region: "us-east-1", ClusterName: "demo"})
//	if err != nil { … }
//	name, err := manager.Ensure(ctx, instanceprofile.Wanted{
//		NodeClass: class.Name, UID: class.UID, Role: *class.Spec.Role, Current: class.Status.InstanceProfile,
//	})
//	…
//	deleted, err := manager.Collect(ctx, inUse) // every CollectEvery, in the caller's own loop
//
// A profile holds one role. When the role of a node class changes, the class gets another profile, because running instances still use the
// old profile. The old profile is deleted when it is unused.
//
// A manager is useful only if IAM can be reached. In an isolated network, node classes name profiles that users manage themselves.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// # Concurrency
//
// A Manager may be used by many goroutines at once. Profiles are created and deleted one after the other, so that no profile is collected
// while it is reused; reading a profile never waits.
package instanceprofile
