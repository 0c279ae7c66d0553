// Package model prepares a snapshot for planning.
//
// The question: which properties of a snapshot matter for planning, and what are they as numbers?
//
// The input is a planning.Snapshot and optionally the model of an earlier snapshot. Catalogs that have not changed are shared with that
// model. The output is an immutable [Model]. It contains resources as vectors, pods as classes with their stages, pools with tables of
// offerings and prices, nodes with their free amounts, rules with their counts, and volumes and devices. If the snapshot is invalid, the
// output is a *planning.SnapshotError that says why.
//
// The method: [Compile] checks the snapshot and then calls the packages that this package imports, one after another. Classes and groups
// are numbered by their content, so the order of the input does not matter. Package updating makes the model of a later snapshot from an
// existing model.
//
// The cost: compiling takes a pass over all objects, and for each class a pass over the tables of the pools.
package model
