// Package convert reads manifests and objects of all generations of the API, in any mixture, and converts them together: if a conversion
// needs a second object (an inline provider block becomes a node class, a kubelet block moves to one), it finds that object in the same
// input. It only reads from the given reader, uses no clock, and needs no AWS SDK.
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
// # Two kinds of conversion
//
// Rewrite makes new manifests. It writes out defaults that a webhook used to add. It leaves out metadata of an API server, status, and the
// annotation of kubectl apply. It skips Machines, because they are replaced and not rewritten. Two different results with the same kind and
// name are an error.
//
// Read keeps live objects as they are, with all metadata and status, for programs that act on them. A pool or node class that was created
// as v1alpha5 keeps a separate identity, so that it may have the same name as a later object: see Converted.Provenance, Converted.PoolKey
// and Result.ClassOf.
//
// Rewrite and Read keep the order of the input; an object created by a conversion follows its source. If an object can't be converted, it
// is left out as a whole, with all its problems reported at once, and the other objects are still converted. Rewrite passes objects of the
// target generation through unchanged, and refuses those that break a rule of their kind. Options.ValidatePool adds rules for pools.
//
// # Differences from Karpenter
//
// docs/differences.md lists how this package differs from Karpenter, and why.
//
// Functions of this package never change their arguments, and return the same result for the same input, byte for byte. All may be called
// concurrently.
//
// Stability: beta.
package convert
