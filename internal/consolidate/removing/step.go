package removing

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// Removal is a group of nodes that may go, and where its pods may go then.
type Removal struct {
	Method  decision.Method
	Members []*searchcontext.Candidate
	Where   Places
}

// Consolidating is the removal of a group to save money.
func Consolidating(group []*searchcontext.Candidate, where Places) Removal {
	return Removal{searchcontext.MethodFor(group), group, where}
}

// Step is one accepted removal: what will be a command. Steps never touch each other's nodes: none puts pods on a node
// that another removes, nor on one that another launches. So each is good without the others as far as room goes.
type Step struct {
	paying.Exchange
	// Numbers are what the trial calls the new nodes, Grown other new nodes that have received pods.
	Numbers, Grown []int
	Pods           int
	// Where its pods were allowed to go; Ungrown says that those were none of the new nodes that others have opened.
	Where   Places
	Ungrown bool
}

// Places say where pods may go.
type Places int

const (
	// OnlyRoom: on nodes there are.
	OnlyRoom Places = iota
	// UseRoom: there first, else on new ones.
	UseRoom
	// OnlyNew: on new ones.
	OnlyNew
	// LikeProvisioning: on new ones, as many as a command may launch, found as provisioning does.
	LikeProvisioning
)

// room reports whether nodes that are there may be used.
func (p Places) room() bool { return p == OnlyRoom || p == UseRoom }
