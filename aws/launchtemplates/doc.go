// Package launchtemplates keeps in EC2 the launch templates that launches use: it makes those that are missing, knows
// those that are there, and deletes those that nobody uses any more.
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
// It differs from the reference on purpose: a template that was used once stays for [DefaultLifetime], since making it
// again and again costs calls, records and noise (AWN-329), and only so many are kept; it is made without looking for it
// first; when the account is full, unused ones are deleted at once; while EC2 is in trouble, calls wait for it to recover
// (AWN-331); what is gone already is no error (AWN-245).
//
// A Store may be used by many goroutines at once, and starts none that outlives a call.
package launchtemplates
