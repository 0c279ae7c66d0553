// Package components answers one question: which nodes must be removed together, and which planned nodes replace them?
//
// The input is the accepted steps of a search. For a group of nodes that may be removed next, the output is the component that the group
// would become part of. The output includes the numbers of nodes that this component removes and launches. A command is a component or a
// part of it, so no component may become larger than a command may be.
//
// Nodes belong to one component if they were exchanged for one another, directly or in several exchanges, or if their pods share a new
// node. The sets of these nodes are a forest (union-find; Galler and Fischer, An Improved Equivalence Algorithm, 1964). The time of a query
// is proportional to the lengths of the paths from its nodes to their roots. A query changes nothing, so searches may query in parallel.
package components

import (
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// Components says which nodes must be removed together, while a search is running.
type Components struct {
	// Connected has, for each component, the set of its nodes.
	Connected Sets
	// size has, by the root of a component, the numbers of nodes that the component removes and launches.
	size map[*searchcontext.Candidate]Size
	// openedFor has, for each new node by its number in the trial, the first removed node whose pods it was opened for.
	openedFor map[int]*searchcontext.Candidate
	// receivedFrom has, for an existing node, the removed nodes whose pods it may have received.
	receivedFrom map[*searchcontext.Candidate][]*searchcontext.Candidate
	// TooLarge is the block for a group that would make a component larger than a command may be. Its code is BlockLater, because the next
	// plan starts with new components and may allow the removal.
	TooLarge *decision.Block
}

// Size is the number of nodes that a component removes and launches.
type Size struct{ Members, NewNodes int }

// New returns an empty Components.
func New() *Components {
	return &Components{
		size: map[*searchcontext.Candidate]Size{}, openedFor: map[int]*searchcontext.Candidate{},
		receivedFrom: map[*searchcontext.Candidate][]*searchcontext.Candidate{}, TooLarge: &decision.Block{Code: decision.BlockLater},
	}
}

// OpenedFor returns the first member for which the new node was opened.
func (x *Components) OpenedFor(number int) *searchcontext.Candidate { return x.openedFor[number] }

// rootOf returns the candidate that represents the candidate's component in Connected. The component of a planned candidate is the
// component of the member that the planned node was opened for.
func (x *Components) rootOf(c *searchcontext.Candidate) *searchcontext.Candidate {
	if c.Planned {
		c = x.openedFor[c.Number]
	}
	return x.Connected.Find(c)
}

// Union computes which components would be joined by the removal of the group. The pods of the group would share new nodes with the pods of
// the other given candidates. It appends the roots of the joined components to roots, and returns their total size.
func (x *Components) Union(roots []*searchcontext.Candidate, group, others []*searchcontext.Candidate) ([]*searchcontext.Candidate, Size) {
	var size Size
	add := func(c *searchcontext.Candidate) {
		root := x.rootOf(c)
		if slices.Contains(roots, root) {
			return
		}
		roots = append(roots, root)
		known, has := x.size[root]
		if !has {
			known.Members = 1
		}
		size.Members += known.Members
		size.NewNodes += known.NewNodes
	}
	for _, c := range group {
		add(c)
		if c.Planned {
			size.NewNodes--
		}
	}
	for _, c := range others {
		add(c)
	}
	return roots, size
}

// Sharing returns the other candidates whose pods may be on the same new nodes as the group's pods. These are candidates whose pods were on
// nodes of the group, and candidates for which the new nodes in grown were opened. It returns nil if both lists of new nodes, opened and
// grown, are empty, because then the group's pods are on no new node.
func (x *Components) Sharing(group []*searchcontext.Candidate, opened, grown []int) []*searchcontext.Candidate {
	if len(opened)+len(grown) == 0 {
		return nil
	}
	var out []*searchcontext.Candidate
	for _, c := range group {
		out = append(out, x.receivedFrom[c]...)
	}
	for _, number := range grown {
		out = append(out, x.openedFor[number])
	}
	return out
}

// Join joins the components of the given roots to one component. size is the sum of their sizes, and opened are the new nodes that were
// opened for the joined component.
func (x *Components) Join(roots []*searchcontext.Candidate, size Size, opened []int) {
	for _, root := range roots[1:] {
		delete(x.size, root)
		x.Connected.Join(roots[0], root)
	}
	root := x.Connected.Find(roots[0])
	size.NewNodes += len(opened)
	x.size[root] = size
	for _, number := range opened {
		x.openedFor[number] = root
	}
}

// Receive records that the receiver may have received pods of the group, or of candidates whose pods were on the group's nodes.
func (x *Components) Receive(receiver *searchcontext.Candidate, group []*searchcontext.Candidate) {
	list := x.receivedFrom[receiver]
	for _, c := range group {
		list = append(list, x.receivedFrom[c]...)
	}
	x.receivedFrom[receiver] = append(list, x.rootOf(group[0]))
}

// Sets are disjoint sets of candidates (union-find). A candidate that was never joined is alone in its set. The zero value is ready for
// use.
type Sets struct {
	parent map[*searchcontext.Candidate]*searchcontext.Candidate
}

// Find returns the candidate that represents the set of c.
func (x *Sets) Find(c *searchcontext.Candidate) *searchcontext.Candidate {
	for x.parent[c] != nil {
		c = x.parent[c]
	}
	return c
}

// Join merges the sets of two candidates.
func (x *Sets) Join(a, b *searchcontext.Candidate) {
	a, b = x.Find(a), x.Find(b)
	if a == b {
		return
	}
	if x.parent == nil {
		x.parent = map[*searchcontext.Candidate]*searchcontext.Candidate{}
	}
	x.parent[b] = a
}
