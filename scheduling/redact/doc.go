// Package redact removes from a Snapshot the data that planning does not read, so that the snapshot can be stored and shown: commands,
// arguments, environments, probes, images, names of Secrets, annotations of other programs, and messages.
//
//	err := redact.Strip(snapshot).Encode(file)
//
//	err := redact.Anonymize(snapshot, key).Encode(file)
//
// Anonymize also replaces names by made-up words, so that the snapshot can be shown to strangers.
//
// The package names each field that it keeps. Fields that it does not name are removed, including fields that future versions of
// Kubernetes add. The redacted snapshot gives the same plan as the original.
//
// Stability: beta.
package redact
