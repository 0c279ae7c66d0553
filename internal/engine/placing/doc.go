// Package placing finds nodes for pods, one class at a time, and checks all rules exactly.
//
// The question: on which existing node, on which new node opened before, or on which node to open now can the next pod of a class run?
//
// The input is a trial and classes with pending pods. The output is bindings in the trial's state. [Placing.PlaceSingly] places pods left
// over after packing, [Placing.MoveClasses] places pods of removed nodes, and [Placing.Fill] and [Placing.Put] are for callers that choose
// the nodes themselves. [Placing.Settle] replaces each new node by the cheapest node that is sufficient.
//
// The method: a pod is tried on existing nodes first, then on new nodes with room, then on new nodes that a larger type can replace. At
// last the cheapest suitable node is opened. Pods with rules over domains are first assigned to cells ([Placing.Deal]). If a spread depends
// on the order of binding, that order is replayed. A new node keeps enough possible instance types for its pool's minValues.
//
// The cost: for each pod, one check of the nodes on which it could run. A class that found no node is not tried again until some node gains
// room.
package placing

import "github.com/drawknife/drawknife/internal/engine/trial"

// Placing finds places on a trial, one class of pods at a time.
type Placing struct{ *trial.Trial }

// Of returns a Placing for the trial.
func Of(t *trial.Trial) Placing { return Placing{t} }

// Growth replaces new nodes by nodes of other types: by larger nodes, or by the cheapest nodes that are sufficient. It keeps enough
// possible types for minValues.
type Growth struct{ *trial.Trial }

// GrowthOf returns a Growth for the trial.
func GrowthOf(t *trial.Trial) Growth { return Growth{t} }

// Sites chooses the new nodes to open for pods, and assigns pods to the cells where such nodes could be.
type Sites struct{ *trial.Trial }

// SitesOf returns a Sites for the trial.
func SitesOf(t *trial.Trial) Sites { return Sites{t} }

// Spreads checks that spreads hold in the order in which pods are bound.
type Spreads struct{ *trial.Trial }

// SpreadsOf returns a Spreads for the trial.
func SpreadsOf(t *trial.Trial) Spreads { return Spreads{t} }
