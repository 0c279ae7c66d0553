// Package nodefacts learns from nodes that have joined what their instance type, image and node class really give them: memory, pods,
// ephemeral storage, huge pages, extended resources, attachable volumes, and the time until they are ready. Plans then count on these facts
// in place of the provider's estimates, within bounds.
//
//	book, err := nodefacts.New(nodefacts.DefaultOptions())
//	book.Observe(snapshot)  // counts each node once
//	book.Apply(snapshot)    // replaces what nodes contradict, and says so in snapshot.Assumptions
//
// A fact is of an instance type, an image and a node class. For new nodes the image counts that was seen last with the type and class.
// [Book.Export] and [Book.Import] keep facts over restarts and carry them to other clusters with the same classes.
//
// Stability: beta.
package nodefacts
