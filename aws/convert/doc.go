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
// class that was born in the first generation keeps an identity of its own, so that it may bear the name of a later one:
// see Converted.Provenance, Converted.PoolKey and Result.ClassOf.
//
// Both keep the order of the input; what a conversion creates follows the object it came from. An object that can't be
// converted is left out as a whole, with all its problems at once, and the others go on. Rewrite passes what is of the target
// generation already through unchanged, and refuses it too where it breaks a rule of its kind; Options.ValidatePool adds rules.
//
// # Deliberate differences
//
// Of what the specification says of the generations, this is otherwise, here or where the objects are acted on:
//
//   - A pool of v1 that shares a node class with a pool of v1beta1 keeps it as it is, whatever the order of their names: the
//     kubelet block of the other goes to a copy. So pools that have none still count as different, and what is of v1 already is
//     not changed (API-372, API-373, API-467).
//   - A field that a kind does not have is warned of, and refused only when asked for (API-016): what users keep in a folder for
//     years has such fields, and the warning names them.
//   - The annotation in which kubectl apply keeps the manifest it was last given does not survive a rewrite, though others do (API-265,
//     API-393): it holds an object of another generation, and kubectl would compare the next manifest with that.
//   - The old annotations that keep pods and nodes are honoured whatever pools there are (API-229), since who moves to pools of v1
//     should not lose protection at that moment.
//   - Instances of the first generation are tagged as releases from 0.28 on did, and listed if they say that this cluster manages
//     them (API-416, API-420): what an older release left can't be told from another cluster's, and is rolled by hand. Its launch
//     templates are those of v1 in name and tags (API-416, API-422), and nothing is tagged or listed by the keys that v1beta1 alone
//     had (API-418). A cluster moves from a Provisioner to a NodePool in its own time, with one controller that acts on both or
//     with two side by side (API-402, API-404).
//   - Pools of one weight compete by price; their generation and name decide only between equals (API-012, API-013).
//   - Tags of images narrow no instance types; a conversion warns of it (API-128, API-308).
//   - Metrics bear the names of v1 alone (API-255).
//   - What the releases of the generations were meant to become is history, and nothing follows from it (API-006).
//
// Functions of this package never change their arguments, and give the same result for the same input, byte for byte. All
// may be called from any number of goroutines.
package convert
