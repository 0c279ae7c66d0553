// Package model makes a snapshot ready for planning.
//
// The question: what of a snapshot matters to planning, as numbers; and what of that stays the same in the next snapshot?
//
// Input is a planning.Snapshot, and the model of an earlier one. Output is a [Model], which is immutable: resources as vectors, pods as
// classes of pods alike with the stages in which they can be placed, pools with their tables of what is on sale and what it costs, nodes
// with what is free on them, rules with what they count, volumes and devices. Or a *planning.SnapshotError that says what is wrong with
// the snapshot.
//
// The method: [Compile] checks the snapshot, then asks the rooms below one after another, each for its part; classes and groups are
// numbered by their content, so that the order of the input plays no part. [Model.Update] compares a snapshot with the one before by the
// identity of objects, changes the parts that depend on what differs, and shares the rest; what it goes by is remembered from update to
// update. It compiles where more differs than it knows of.
//
// The cost: compiling is a pass over all objects, and for each class one over the tables of the pools. An update takes a comparison of
// pointers for each pod and node, and work for those that differ.
package model
