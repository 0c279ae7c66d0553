// Package newnodes computes which instance types and offerings a new node could have.
//
// The question: for a node that a trial has opened, which instance types and offerings can hold its pods, which requirements does its
// NodeClaim need, what does the node cost with commitments, and which preferences of its pods does it not meet?
//
// The input is a trial with its new nodes and their loads. The output is the rows (variants of instance types) and slots (zone, capacity
// type and reservation) that are sufficient ([NewNodes.Allowed]), descriptions of nodes for plans ([NewNodes.Describe]), prices after
// commitments ([NewNodes.WriteCommitments]) and preferences that are not met ([NewNodes.BrokenWishes]).
//
// The method: it starts with all rows and slots that hold the load. Then it removes the rows and slots that rules between pods could
// distinguish from the planned node. At the end, all pods may run on a node of every remaining instance type (row) and offering (slot), and
// no rule between pods distinguishes it from the planned node. Results are cached by the text of everything that determines them.
//
// The cost: one AND of sets for each stage of the load, and one pass over the rules that depend on labels whose values are open on the
// node.
package newnodes

import "github.com/drawknife/drawknife/internal/engine/trial"

// NewNodes computes which nodes could be launched for the new nodes of a trial.
type NewNodes struct{ *trial.Trial }

// Of returns a NewNodes for the trial.
func Of(t *trial.Trial) NewNodes { return NewNodes{t} }
