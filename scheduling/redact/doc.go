// Package redact takes out of a Snapshot what planning does not read, so that it can be kept and shown: commands, arguments,
// environments, probes, images, the names of Secrets, annotations of others, messages.
//
//	err := redact.Strip(snapshot).Encode(file)
//
//	err := redact.Anonymize(snapshot, key).Encode(file)
//
// also puts other words in place of names, for a snapshot that strangers may see.
//
// What is kept is named field by field. A field that is not named here is not kept, also one that Kubernetes gets in the future.
// The plan of what is left is that of the snapshot itself.
//
// Stability: beta.
package redact
