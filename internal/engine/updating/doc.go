// Package updating makes the model of a later snapshot from an existing model.
//
// The question: which parts of a model are unchanged for a later snapshot, and how do the other parts change?
//
// The input is a [model.Model] and a later planning.Snapshot. The output is the model, or the error, that compiling the snapshot would
// give.
//
// The method: [Update] compares the snapshot with the previous one by the identity of objects. It changes the parts that depend on the
// differences, and shares the other parts with the previous model. For each model it keeps a record: which pods are of which kind, where
// they are, and what depends on the pods that exist. Each update changes this record, so only the latest model of a sequence has it. If a
// difference is not supported, it compiles the snapshot. Classes and groups are numbered by their content, as in a compiled model, so plans
// do not depend on whether the model was compiled or updated.
//
// The cost: one comparison of pointers for each pod and node, and the work for those that differ. Making the record for a compiled model
// takes one pass over its pods.
//
// In the literature this is incremental view maintenance: Gupta and Mumick (1995), Maintenance of Materialized Views. As in their counting
// algorithm, a kind of pods is removed when the count of its members is zero.
package updating
