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
// # Deliberate differences
//
//   - A template that was used once stays for [DefaultLifetime], not a minute, since making it again and again costs
//     calls, records and noise (AWN-242, AWN-329); only so many are kept.
//   - It is made without looking for it first; one that exists already is taken over if its tags are the cluster's
//     (AWN-241).
//   - Nothing waits for a call about another template (AWN-232, AWN-330).
//   - When the account is full, unused templates are deleted at once (AWN-258).
//   - While EC2 is in trouble, calls are kept back for a while (AWN-331).
//   - What is gone already is no error (AWN-245), and everything of a cluster can be deleted (AWN-171, AWN-358).
//
// # Concurrency
//
// A Store may be used by many goroutines at once, and starts none that outlives a call.
package launchtemplates
