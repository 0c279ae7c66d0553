// Package model makes a snapshot ready for planning.
//
// The question: which properties of a snapshot matter for planning, as numbers, and which of them stay the same in the next snapshot?
//
// The input is a planning.Snapshot, and the model of an earlier one. The output is an immutable [Model]. It contains resources as
// vectors, pods as classes with the stages in which they can be placed, pools with tables of offerings and prices, nodes with their free
// amounts, rules with their counts, volumes and devices. If the snapshot is invalid, the output is a *planning.SnapshotError that says
// why.
//
// The method: [Compile] checks the snapshot, then calls the packages below one after another. Classes and groups are numbered by their
// content, so the order of the input does not matter. [Model.Update] compares a snapshot with the previous snapshot by the identity of
// objects, changes the parts that depend on differences, and shares the rest; it keeps its own records from update to update. It compiles
// the snapshot again if there are other differences than those that it supports.
//
// The cost: compiling is a pass over all objects, and for each class one over the tables of the pools. An update takes a comparison of
// pointers for each pod and node, and work for those that differ.
package model
