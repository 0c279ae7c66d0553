// Package updating makes the model of a later snapshot from an existing model.
//
// The question: which parts of a model are unchanged for a later snapshot, and how do the other parts change?
//
// The input is a [model.Model] and a later planning.Snapshot. The output is the model, or the error, that compiling the snapshot would
// give.
//
// The method: [Update] compares the snapshot with the previous one by the identity of objects. It changes the parts that depend on the
// differences, and shares the other parts with the previous model. With each model it keeps a record of the kind and the node of each pod,
// and of the data that depend on the existing pods. Each update changes this record, so only the latest model of a sequence has it. If
// Update does not support a difference, it compiles the snapshot. Classes and groups are numbered by their content, as in a compiled model,
// so plans do not depend on whether the model was compiled or updated.
//
// The cost: one comparison of pointers for each pod and node, and the work for the pods and nodes that differ. To make the record for a
// compiled model, its pods are read once.
//
// In the literature this is incremental view maintenance: Gupta and Mumick (1995), Maintenance of Materialized Views. As in their counting
// algorithm, a kind of pods is removed when the count of its members is zero.
package updating
