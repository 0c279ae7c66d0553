// Package model makes a snapshot ready for planning.
//
// The question: which properties of a snapshot matter for planning, as numbers?
//
// The input is a planning.Snapshot, and the model of an earlier one, whose catalogs are shared if they have not changed. The output is an
// immutable [Model]. It contains resources as vectors, pods as classes with the stages in which they can be placed, pools with tables of
// offerings and prices, nodes with their free amounts, rules with their counts, volumes and devices. If the snapshot is invalid, the output
// is a *planning.SnapshotError that says why.
//
// The method: [Compile] checks the snapshot, then calls the packages below one after another. Classes and groups are numbered by their
// content, so the order of the input does not matter. Package updating makes the model of a later snapshot from this one.
//
// The cost: compiling is a pass over all objects, and for each class one over the tables of the pools.
package model
