// Package placing finds places for one class of pods at a time, by the exact rules.
//
// The question: on which existing node, on which new node opened before, or on which node to open now does the next pod of a class go?
//
// The input is a trial and classes with pending pods. The output is bindings in the trial's state: [Placing.PlaceSingly] for pods left
// over after packing, [Placing.MoveClasses] for pods of removed nodes, [Placing.Fill] and [Placing.Put] for callers that choose the nodes
// themselves.
// [Placing.Settle] replaces new nodes by the cheapest that suffice.
//
// The method: existing nodes come first, then new nodes with room, then new nodes that grow to a larger type, then the cheapest node to
// open. Pods under rules over domains are assigned to cells first ([Placing.Deal]); if a spread depends on the order of binding, that order
// is replayed. A new node keeps the variety that its pool's minValues ask for.
//
// The cost: for each pod one check of the nodes that could take it; a class that found nothing is not tried again until room grows.
package placing

import "github.com/drawknife/drawknife/internal/engine/trial"

// Placing finds places, one class of pods at a time, on a trial.
type Placing struct{ *trial.Trial }

// Of returns a Placing for the trial.
func Of(t *trial.Trial) Placing { return Placing{t} }

// Growth changes new nodes to other types: larger ones, or the cheapest that suffice, with the variety that their pools' minValues ask for.
type Growth struct{ *trial.Trial }

// GrowthOf returns a Growth for the trial.
func GrowthOf(t *trial.Trial) Growth { return Growth{t} }

// Sites chooses the new nodes to open for pods, and assigns pods to the cells where such nodes could be.
type Sites struct{ *trial.Trial }

// SitesOf returns a Sites for the trial.
func SitesOf(t *trial.Trial) Sites { return Sites{t} }

// Spreads makes sure that spreads hold in the order in which pods are bound.
type Spreads struct{ *trial.Trial }

// SpreadsOf returns a Spreads for the trial.
func SpreadsOf(t *trial.Trial) Spreads { return Spreads{t} }
