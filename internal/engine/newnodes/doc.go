// Package newnodes computes which instance types and offerings a new node could have.
//
// The question: for a node that a trial has opened, which instance types and offerings can hold its pods, which requirements does its claim
// need, what does it cost with commitments, and which preferences of its pods does it not meet?
//
// The input is a trial with its new nodes and their loads. The output is the rows and slots that suffice ([NewNodes.Allowed]),
// descriptions of nodes for plans ([NewNodes.Describe]), prices after commitments ([NewNodes.WriteCommitments]) and preferences that are
// not met ([NewNodes.BrokenWishes]).
//
// The method: start with everything that holds the load, and remove what rules or other nodes would see as a difference, until another
// choice changes nothing for any pod. Results are cached by the text of everything that determines them.
//
// The cost: an AND of sets for each stage of the load, and a pass over rules that see labels the node leaves open.
package newnodes

import "github.com/drawknife/drawknife/internal/engine/trial"

// NewNodes computes which new nodes of a trial are possible.
type NewNodes struct{ *trial.Trial }

// Of returns a NewNodes for the trial.
func Of(t *trial.Trial) NewNodes { return NewNodes{t} }
