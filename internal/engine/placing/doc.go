// Package placing finds places for one class of pods at a time, by the exact rules.
//
// The question: on which node there is, on which new one opened before, or on which new one to open does the next pod of a class go?
//
// Input are a trial and classes that wait. Output are bindings in the trial's state: [Placing.PlaceSingly] for what packing left,
// [Placing.MoveClasses] for pods set free, [Placing.Fill] and [Placing.Put] for callers who decide themselves. [Placing.Settle] exchanges new
// nodes for the cheapest that would do.
//
// The method: nodes there are come first, then new nodes with room, then new nodes that grow to a larger type, then the cheapest site. Pods
// under rules over domains are dealt out to cells first ([Placing.Deal]); where a spread would depend on the order of binding, the order is
// replayed. A new node keeps the variety its pool asks for.
//
// The cost: for each pod a look at the nodes that could take it; a class that found nothing is not looked at again until room grows.
package placing

import "github.com/drawknife/drawknife/internal/engine/trial"

// Placing finds places, one class of pods at a time, on a trial.
type Placing struct{ *trial.Trial }

// Of works on the trial.
func Of(t *trial.Trial) Placing { return Placing{t} }

// Growth lets new nodes become other ones: larger, or the cheapest that would do, as varied as their pools ask.
type Growth struct{ *trial.Trial }

// GrowthOf works on the trial.
func GrowthOf(t *trial.Trial) Growth { return Growth{t} }

// Sites finds what new nodes to open for pods, and deals pods out to the cells that these could be in.
type Sites struct{ *trial.Trial }

// SitesOf works on the trial.
func SitesOf(t *trial.Trial) Sites { return Sites{t} }

// Spreads keeps spreads through the order in which pods are bound.
type Spreads struct{ *trial.Trial }

// SpreadsOf works on the trial.
func SpreadsOf(t *trial.Trial) Spreads { return Spreads{t} }
