// Package newnodes says what a new node could be.
//
// The question: for a node that a trial has opened, which instance types and offerings would do with the pods it has, what must its claim
// say, what does it cost with commitments, and which wishes of its pods does it break?
//
// Input are a trial with its new nodes and their loads. Output are the rows and slots that would do ([NewNodes.Allowed]), descriptions of
// nodes for plans ([NewNodes.Describe]), prices after commitments ([NewNodes.WriteCommitments]) and broken wishes ([NewNodes.BrokenWishes]).
//
// The method: all that holds the load is narrowed by what rules and other nodes would notice, until another choice changes nothing for
// any pod. What is found is remembered by the text of what decides it.
//
// The cost: an AND of sets for each stage of the load, and a pass over rules that see labels the node leaves open.
package newnodes

import "github.com/drawknife/drawknife/internal/engine/trial"

// NewNodes says what new nodes could be, on a trial.
type NewNodes struct{ *trial.Trial }

// Of works on the trial.
func Of(t *trial.Trial) NewNodes { return NewNodes{t} }
