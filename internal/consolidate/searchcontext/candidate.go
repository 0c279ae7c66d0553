package searchcontext

import (
	"hash/fnv"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/proof"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// Candidate is a node that may be removed, with what a search weighs: an existing node, or a planned one of the search. It is read-only
// once made.
type Candidate struct {
	*decision.Candidate
	// Number is its index in Context.Candidates; for a planned node, the trial's number.
	Number int
	// Planned means that it is a planned node.
	Planned bool
	// NanoPrice is in nano-USD per hour, 0 if unknown; PodWorth is the value of its pods.
	NanoPrice, PodWorth int64
	PodMoves
	// Refused has the block of each method, without budgets and places; Blocked is the block of consolidation. Nil means no block.
	Refused survey.ByMethod
	Blocked *decision.Block
	// Due means that the node must go: it has drifted, or expires soon.
	Due bool
	// Drifts means that drift may remove it.
	Drifts bool
	// Likeness identifies the offering that it was bought as, as a number.
	Likeness uint64
	// Tie names the nodes that must go together with the candidate. It is nil if the candidate can go alone.
	Tie *survey.Tie
}

// WithTied returns the candidate and those that go together with it, by name.
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

// Existing returns the existing nodes among the candidates, without planned ones.
func Existing(group []*Candidate) []*Candidate {
	if !slices.ContainsFunc(group, func(c *Candidate) bool { return c.Planned }) {
		return group
	}
	return slices.DeleteFunc(slices.Clone(group), func(c *Candidate) bool { return c.Planned })
}

// Surveyed returns the candidates of the survey.
func Surveyed(group []*Candidate) []*decision.Candidate {
	out := make([]*decision.Candidate, len(group))
	for i, c := range group {
		out[i] = c.Candidate
	}
	return out
}

// PriceOf returns the total price of the candidates, nano-USD per hour.
func PriceOf(group []*Candidate) int64 {
	sum := int64(0)
	for _, c := range group {
		sum += c.NanoPrice
	}
	return sum
}

// AnyDue reports whether one of them must be removed anyway.
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

// LikenessOf identifies the offering that the candidate was bought as, as a number, independent of its name.
func LikenessOf(c *decision.Candidate) uint64 {
	h := fnv.New64a()
	for _, part := range []string{c.Zone, c.CapacityType, c.Pool.Key.String()} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64() ^ uint64(money.NanoUSD(c.Price))
}

// toProve converts candidates to nodes of a proof.
func toProve(list []*Candidate) []proof.Node {
	out := make([]proof.Node, len(list))
	for i, c := range list {
		out[i] = c.ToProve()
	}
	return out
}

// ToProve converts the candidate to a node of a proof.
func (c *Candidate) ToProve() proof.Node {
	return proof.Node{Name: c.Name, Pool: c.Pool.Key, Price: c.NanoPrice, Moving: c.Moving, Stays: c.Stays}
}
