// Package updating takes over what stays the same from one snapshot to the next.
//
// The question: which parts of a model are the same for a later snapshot, and how do the others change?
//
// The input is a [model.Model] and a later planning.Snapshot. The output is the same model that compiling the snapshot gives, or its error.
//
// The method: [Update] compares the snapshot with the previous one by the identity of objects. It changes the parts that depend on
// differences, and shares the rest with the previous model. It remembers with each model which pods are of which kind, where they are, and
// what else depends on which pods exist; each update changes that, so only the latest model of a sequence has it. If there are other
// differences than those that it supports, it compiles the snapshot. Classes and groups are numbered by their content, as compiling numbers
// them, so that plans do not depend on the way to a model.
//
// The cost: a comparison of pointers for each pod and node, and work for those that differ. To remember a model that was compiled takes one
// pass over its pods.
//
// In the literature this is incremental view maintenance: Gupta and Mumick (1995), Maintenance of Materialized Views. Counts of members
// decide when a kind of pods is gone, as in their counting algorithm.
package updating
