package removing

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// Limits say how many nodes one command may remove and launch. disruption.Global explains each limit. All values are used as given.
type Limits struct {
	MaxMembers, MaxNewNodes int
	// MaxMerged applies to fleets that are searched thoroughly. It is the largest number of nodes that a command with at most one new node
	// removes.
	MaxMerged int
	// DrainLimit is the longest allowed expected duration of a drain. 0 allows any duration.
	DrainLimit time.Duration
}

// maxExchanged is the largest number of nodes that one step exchanges, and the largest number of new nodes for them. Several steps together
// can exchange more nodes.
const maxExchanged = 8

// Exchanged returns the largest number of nodes that one step exchanges for new nodes.
func (l *Limits) Exchanged() int { return min(l.MaxMembers, maxExchanged) }

// launched returns the largest number of new nodes that one step launches for the nodes that it exchanges.
func (l *Limits) launched() int { return min(l.MaxNewNodes, maxExchanged) }

// Merged returns the largest number of nodes that a command with at most one new node may remove.
func (t *Trier) Merged() int {
	if t.Many() {
		return t.MaxMembers
	}
	return t.MaxMerged
}

// allows reports whether one command may remove and launch the numbers of nodes in size.
func (t *Trier) allows(size components.Size) bool {
	return size.Members <= t.MaxMembers && size.NewNodes <= t.MaxNewNodes || size.Members <= t.Merged() && size.NewNodes <= 1
}

// mostNewNodes returns the largest number of nodes that one step may launch if it removes the given number of members.
func (t *Trier) mostNewNodes(where Places, members int) int {
	switch {
	case members > t.MaxMembers:
		return 1
	case where == LikeProvisioning:
		return t.MaxNewNodes
	}
	return t.launched()
}

// Admissible checks those conditions of a removal that can be checked without a trial. It returns the block of the first condition that is
// not met.
func (t *Trier) Admissible(r Removal) *decision.Block {
	if t.Refining {
		if _, size := t.union(r.Members, nil); size.Members > t.MaxMembers && (size.NewNodes > 1 || size.Members > t.Merged()) {
			return t.Components.TooLarge
		}
	}
	for _, c := range searchcontext.Existing(r.Members) {
		if why := t.Types.Budgets.Blocks(c.Candidate, r.Method.Reason()); why != nil {
			return why
		}
		if limit := t.DrainLimit; limit > 0 && c.Drain > limit && !c.Due {
			e := c.Longest(t.Times)
			return &decision.Block{Code: decision.BlockDrain, Budgets: []types.NamespacedName{e.Budget}, Count: e.Pods, Need: e.Allowed, Duration: c.Drain.String()}
		}
	}
	return nil
}

// tooLarge returns a block if the step's component removes or launches more nodes than one command may remove or launch. Before refinement
// it always returns nil.
func (t *Trier) tooLarge(st *Step) *decision.Block {
	if !t.Refining {
		return nil // Before refinement, each step becomes a separate command, so its component is not larger than the step.
	}
	if !t.Fits(st) {
		return t.Components.TooLarge
	}
	return nil
}

// Fits reports whether one command may be as large as the component that the step would become part of.
func (t *Trier) Fits(st *Step) bool {
	_, size := t.union(st.Members, t.Components.Sharing(st.Members, st.Numbers, st.Grown))
	size.NewNodes += len(st.Numbers)
	if st.Method == decision.MethodDrift {
		size.NewNodes = min(size.NewNodes, t.MaxNewNodes)
	}
	return t.allows(size)
}

// Together returns the numbers of nodes that the group's component would remove and launch after the removal of the group.
func (t *Trier) Together(group []*searchcontext.Candidate) components.Size {
	_, size := t.union(group, nil)
	return size
}

// union returns the roots of the components that would be joined if the group were removed and shared new nodes with others, and the size
// of the joined component. The list is valid until the next call.
func (t *Trier) union(group, others []*searchcontext.Candidate) (roots []*searchcontext.Candidate, size components.Size) {
	t.roots, size = t.Components.Union(t.roots[:0], group, others)
	return t.roots, size
}
