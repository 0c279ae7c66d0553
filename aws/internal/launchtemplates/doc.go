// Package launchtemplates manages the launch templates in EC2: it creates missing ones, tracks existing ones, and deletes unused
// ones.
//
//	store, err := launchtemplates.New(clients.EC2(sdk.Urgent), launchtemplates.Options{ClusterName: "demo"})
//	if err != nil { … }
//	err = store.Hydrate(ctx)                 // once, at start: what an earlier process left
//	ready, err := store.Ensure(ctx, templates) // before each launch; templates are what launchtemplate.Build made
//	deleted, err := store.Sweep(ctx)         // now and then, in the caller's own loop
//
// A template's name says its content, so that one that exists is right. There is no lock across a call to EC2: calls
// about different templates go on side by side, and of several that want the same one the first makes it.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// # Concurrency
//
// A Store may be used by many goroutines at once, and starts none that outlives a call.
package launchtemplates
