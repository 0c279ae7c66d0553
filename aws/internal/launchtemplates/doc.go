// Package launchtemplates manages the launch templates in EC2: it creates missing templates, tracks existing ones, and deletes unused ones.
//
//	store, err := launchtemplates.New(clients.EC2(sdk.Urgent), launchtemplates.Options{ClusterName: "demo"})
//	if err != nil { … }
//	err = store.Hydrate(ctx)                 // once, at start: what an earlier process left
//	ready, err := store.Ensure(ctx, templates) // before each launch; templates are what launchtemplate.Build made
//	deleted, err := store.Sweep(ctx)         // now and then, in the caller's own loop
//
// A template's name identifies its content, so an existing template with the right name has the right content. No lock is held during a
// call to EC2, so calls about different templates run in parallel. If several calls need the same template, the first call creates it.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// # Concurrency
//
// A Store may be used by many goroutines at once, and starts no goroutine that outlives a call.
package launchtemplates
