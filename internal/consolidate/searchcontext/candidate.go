package searchcontext

import (
	"hash/fnv"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/proof"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Candidate is a node that may be removed, with the properties that a search uses. It is an existing node, or a planned node of the search.
// It is not changed once it is made.
type Candidate struct {
	*decision.Candidate
	// Number is the index in Context.Candidates. For a planned node, Number is the node's number in the trial.
	Number int
	// Planned means that the candidate is a planned node.
	Planned bool
	// NanoPrice is the node's price in nano-USD per hour, or 0 if unknown. PodWorth is the value of the node's pods in the same unit.
	NanoPrice, PodWorth int64
	PodMoves
	// Refused has, for each method of disruption, the block that keeps it from removing the node. It considers neither budgets nor places
	// for pods. Blocked is the block for consolidation. Nil means no block.
	Refused survey.ByMethod
	Blocked *decision.Block
	// Due means that the node must be removed anyway: it has drifted or expires soon.
	Due bool
	// Drifts means that the method drift may remove the node.
	Drifts bool
	// Likeness is a number that identifies the offering that the node was bought as.
	Likeness uint64
	// Tie names the nodes that must be removed together with the candidate. It is nil if the candidate can be removed alone.
	Tie *survey.Tie
}

// WithTied returns the candidate and the nodes that must be removed together with it, by name.
func (x *Context) WithTied(c *Candidate) []*Candidate {
	if c.Tie == nil {
		return []*Candidate{c}
	}
	out := make([]*Candidate, len(c.Tie.Members))
	for i, from := range c.Tie.Members {
		out[i] = x.ByName[from.Name]
	}
	return out
}

// Existing returns the candidates of the group that are existing nodes, not planned nodes.
func Existing(group []*Candidate) []*Candidate {
	if !slices.ContainsFunc(group, func(c *Candidate) bool { return c.Planned }) {
		return group
	}
	return slices.DeleteFunc(slices.Clone(group), func(c *Candidate) bool { return c.Planned })
}

// Surveyed returns the survey's data (decision.Candidate) about the candidates of the group.
func Surveyed(group []*Candidate) []*decision.Candidate {
	out := make([]*decision.Candidate, len(group))
	for i, c := range group {
		out[i] = c.Candidate
	}
	return out
}

// PriceOf returns the total price of the candidates, in nano-USD per hour.
func PriceOf(group []*Candidate) int64 {
	sum := int64(0)
	for _, c := range group {
		sum += c.NanoPrice
	}
	return sum
}

// AnyDue reports whether one of the candidates must be removed anyway.
func AnyDue(group []*Candidate) bool {
	return slices.ContainsFunc(group, func(c *Candidate) bool { return c.Due })
}

// MethodFor returns the method by which a group is consolidated.
func MethodFor(group []*Candidate) decision.Method {
	if len(group) == 1 {
		return decision.MethodSingleNode
	}
	return decision.MethodMultiNode
}

// LikenessOf returns a number that is equal for candidates with the same NodePool, zone, capacity type and price. It does not depend on the
// node's name.
func LikenessOf(c *decision.Candidate) uint64 {
	h := fnv.New64a()
	for _, part := range []string{c.Zone, c.CapacityType, c.Pool.Key.String()} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64() ^ uint64(money.NanoUSD(c.Price))
}

// toProve converts candidates to nodes for package proof.
func toProve(list []*Candidate) []proof.Node {
	out := make([]proof.Node, len(list))
	for i, c := range list {
		out[i] = c.ToProve()
	}
	return out
}

// ToProve converts the candidate to a node for package proof.
func (c *Candidate) ToProve() proof.Node {
	return proof.Node{Name: c.Name, Pool: c.Pool.Key, Price: c.NanoPrice, Moving: c.Moving, Stays: c.Stays}
}
