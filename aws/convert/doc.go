// Package convert reads manifests and objects of every generation of the API, in any mixture, and converts them together:
// what takes a second object (an inline provider block that becomes a node class, a kubelet block that moves to one) takes
// it from the same input. It does no I/O beyond the reader it is given, reads no clock, and needs no AWS SDK.
//
// The smallest real use: turn a stream of manifests into manifests of v1.
//
//	documents, err := convert.Decode(convert.DecodeOptions{}, convert.Source{Name: "old.yaml", Data: data})
//	if err != nil {
//		return err // every problem with file, document, line and field
//	}
//	result := convert.Rewrite(documents, convert.Options{NodeRole: "KarpenterNodeRole-demo"})
//	for _, w := range result.Warnings {
//		fmt.Fprintln(os.Stderr, w)
//	}
//	if err := convert.WriteYAML(os.Stdout, result.Objects); err != nil {
//		return err
//	}
//	return result.Warnings.Err()
//
// # Two ways to convert
//
// Rewrite makes new manifests: defaults that a webhook used to add are written out, metadata that an API server wrote, status and what
// kubectl apply noted are left out, live Machines are skipped, two results of one kind and name are an error unless they are equal.
//
// Read takes live objects as they are, with all metadata and status, for somebody who goes on to act on them. A pool or node
// class that was created as v1alpha5 keeps an identity of its own, so that it may have the name of a later one:
// see Converted.Provenance, Converted.PoolKey and Result.ClassOf.
//
// Both keep the order of the input; what a conversion creates follows the object it came from. An object that can't be
// converted is left out as a whole, with all its problems at once, and the others go on. Rewrite passes what is of the target
// generation already through unchanged, and refuses it too where it breaks a rule of its kind; Options.ValidatePool adds rules.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// Functions of this package never change their arguments, and give the same result for the same input, byte for byte. All
// may be called from any number of goroutines.
//
// Stability: beta.
package convert
