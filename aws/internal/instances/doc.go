// Package instances manages the EC2 instances of a cluster: it finds them by ID or claim, lists, tags and terminates them, and
// finds orphaned ones.
//
//	client, err := instances.New(instances.Options{EC2: api, Cluster: "demo"})
//	if err != nil { … }
//	instance, err := client.Get(ctx, "i-0123")
//	switch {
//	case cloudprovider.IsNodeClaimNotFound(err): // it is gone, or belongs to another cluster
//	case err == nil && !instance.Terminating():
//		err = client.Terminate(ctx, instance.ID)
//	}
//
// Calls of many callers that arrive together are merged (see package batch), and incomplete answers are errors. Unlike in Karpenter, no
// cache contains instances that may be gone. The only cache holds instances that this process launched in the last minute, because EC2
// shows new instances late: see [Client.Remember].
//
// Only the tags of an instance identify its owner.
package instances
