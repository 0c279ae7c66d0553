// Package nodefacts learns from joined nodes how much their instance type, image and node class really provide: memory, pods, ephemeral
// storage, huge pages, extended resources, attachable volumes, and the time until the node is ready. Plans then use these facts instead
// of the provider's estimates, within bounds.
//
//	book, err := nodefacts.New(nodefacts.DefaultOptions())
//	book.Observe(snapshot)  // counts each node once
//	book.Apply(snapshot)    // replaces what nodes contradict, and says so in snapshot.Assumptions
//
// A fact belongs to an instance type, an image and a node class. For new nodes, plans use the facts of the image that was last seen with
// the type and class.
// [Book.Export] and [Book.Import] save facts across restarts, and copy them to other clusters with the same classes.
//
// Stability: beta.
package nodefacts
