package removing

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Removal is a group of nodes to remove, and the kinds of nodes on which its pods may be placed.
type Removal struct {
	Method  decision.Method
	Members []*searchcontext.Candidate
	Where   Places
	// Way says to which domains gangs on the nodes are moved. It is nil if no gang must be in one domain.
	Way *trial.GangWay
}

// Consolidating returns the removal of a group to save money.
func Consolidating(group []*searchcontext.Candidate, where Places) Removal {
	return Removal{Method: searchcontext.MethodFor(group), Members: group, Where: where}
}

// Step is one accepted removal. Commands are made of steps. Steps are independent: no step puts pods on a node that another step removes or
// launches. So the pods of each step have room even if the other steps are not executed.
type Step struct {
	paying.Exchange
	// Numbers are the trial's numbers of the step's new nodes. Grown are the numbers of other steps' new nodes that have received its pods.
	Numbers, Grown []int
	Pods           int
	// Where says on which kinds of nodes the step's pods may be placed. Ungrown means that new nodes of other steps are excluded.
	Where   Places
	Ungrown bool
}

// Places says on which kinds of nodes (existing, new) the pods of removed nodes may be placed.
type Places int

const (
	// OnlyRoom allows only existing nodes.
	OnlyRoom Places = iota
	// UseRoom allows existing nodes, and also new nodes for pods that fit on no existing node.
	UseRoom
	// OnlyNew allows only new nodes.
	OnlyNew
	// LikeProvisioning allows only new nodes, as many as a command may launch. The new nodes are found in the same way as in provisioning.
	LikeProvisioning
)

// room reports whether the pods may be placed on existing nodes with free room.
func (p Places) room() bool { return p == OnlyRoom || p == UseRoom }
