package searching

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// decided contains the decisions of a search, which become the plan. The trial contains the effects of the steps on nodes and pods, and the
// components say which nodes must be removed together.
type decided struct {
	// gone are removed candidates. fixed are candidates that received pods of removed nodes. The search does not remove them, except during
	// refinement. firm are candidates that received pods of drifted nodes. Refinement does not remove them either.
	gone, fixed, firm map[*searchcontext.Candidate]bool
	steps             []*removing.Step
	// value is the sum of the values of the accepted steps, in nano-USD.
	value int64
	// made are the commands for empty nodes and static pools. They are not made of steps.
	made []*decision.Command
	// unrefined are the commands before refinement. They are used if the commands after refinement can't be executed in any order. This can
	// happen only if spread rules make places depend on the order.
	unrefined []*decision.Command
	// left are the removed nodes that are left for the next plan, because their commands were not worth it.
	left map[*searchcontext.Candidate]bool
	// changed counts how often a node received pods during refinement. For a new node that was opened during refinement, the count begins
	// with 1.
	changed map[identity]int
	// why has, by candidate name, the block that keeps the candidate from being consolidated.
	why map[string]*decision.Block
}

func newDecided() decided {
	return decided{
		gone: map[*searchcontext.Candidate]bool{}, fixed: map[*searchcontext.Candidate]bool{}, firm: map[*searchcontext.Candidate]bool{},
		left: map[*searchcontext.Candidate]bool{}, changed: map[identity]int{}, why: map[string]*decision.Block{},
	}
}

// open reports whether the candidate can still be removed.
func (d *decided) open(c *searchcontext.Candidate) bool { return !d.gone[c] && !d.fixed[c] }

// identity identifies the node of a candidate. The method release may make several candidates of the same new node, one after another. They
// all have the same identity.
type identity struct{ node, planned int }

func identityOf(c *searchcontext.Candidate) identity {
	if c.Planned {
		return identity{planned: c.Number + 1}
	}
	return identity{node: c.Number + 1}
}

// pods returns the number of pods that the steps move.
func (d *decided) pods() int {
	n := 0
	for _, st := range d.steps {
		n += st.Pods
	}
	return n
}

// noteStep records an accepted step whose pods were put on the receivers. If refining is false, or if the step's method is drift, the
// receivers become fixed.
func (d *decided) noteStep(st *removing.Step, receivers []*searchcontext.Candidate, refining bool) {
	for _, c := range st.Members {
		d.gone[c] = true
	}
	if refining {
		for _, number := range append(st.Grown, st.Numbers...) {
			d.changed[identity{planned: number + 1}]++
		}
	}
	for _, c := range receivers {
		if refining {
			d.changed[identityOf(c)]++
		}
		if st.Method == decision.MethodDrift {
			d.firm[c] = true
		}
		if !refining || d.firm[c] {
			d.fixed[c] = true
		}
	}
	d.steps = append(d.steps, st)
	d.value += st.Value
}

// keep records a block for each member of a group that could not be removed. Only the block of a group with a single node can replace a
// recorded block. BlockNotReached never replaces it, and neither does BlockUnschedulable if only existing nodes were tried.
func (d *decided) keep(group []*searchcontext.Candidate, where removing.Places, why *decision.Block) {
	for _, c := range group {
		if c.Planned {
			continue
		}
		if known := d.why[c.Name]; known == nil || len(group) == 1 && why.Code != decision.BlockNotReached && !(where == removing.OnlyRoom && why.Code == decision.BlockUnschedulable) {
			d.why[c.Name] = tiedBlock(c, why)
		}
	}
}
