package searching

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// decided contains the decisions of a search, which become the plan. The trial contains the effects of the steps on nodes and pods. The
// components say which nodes must be removed together.
type decided struct {
	// gone are removed candidates. fixed are candidates that received pods, and therefore stay. firm are candidates that received pods of
	// drifted nodes; these also stay during refinement.
	gone, fixed, firm map[*searchcontext.Candidate]bool
	steps             []*removing.Step
	// value is the sum of the values of the steps.
	value int64
	// made are commands for which no trial is needed: those for empty nodes and static pools.
	made []*decision.Command
	// unrefined are the commands before refinement. They are kept in case places depend on the order of commands.
	unrefined []*decision.Command
	// left are nodes for the next plan, because their commands were not worth it.
	left map[*searchcontext.Candidate]bool
	// changed counts how often nodes received pods during refinement. It is 1 for new nodes that were opened during refinement.
	changed map[identity]int
	// why has the block that keeps each candidate from being consolidated, by name.
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

// identity identifies a candidate. identity stays the same if another candidate is made of the same new node.
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

// noteStep records an accepted step whose pods were put on the receivers. If refining is false, the receivers become fixed.
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

// keep records the block that keeps the members of a group that failed. A block found for a single node replaces the block of a group,
// unless it only says that room is missing or that the search has ended.
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
