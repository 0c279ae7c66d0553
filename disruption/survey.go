package disruption

import (
	"fmt"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// Input contains everything that decisions depend on. Survey does not change it.
type Input struct {
	// View is the view of the cluster, with its time and the pools' catalogs. Required; see ViewOf.
	View *cluster.View
	// Model is the compiled View.Snapshot. If it is nil, Survey compiles the snapshot.
	Model *scheduling.Model
	// Executing are the nodes that commands under way are about to remove, with the commands' IDs.
	Executing map[string]string
	// Buffered are the nodes on which the last provisioning pass put placeholders of capacity buffers.
	Buffered map[string]bool
	// Budgets limit disruption in addition to those of the NodePools.
	Budgets []Budget
	// History contains the disruptions that started recently, both by commands (DisruptionOf) and forced ones (ForcedDisruption). It must
	// cover the longest window of a budget with a rate, and Global.CoolDown.
	History []Disruption
	// Unreached are the pools that the last plan did not reach (Plan.Unreached). The next plan starts with these pools.
	Unreached []v1.PoolKey
	// BackOff are the pools whose replacements for drift failed recently, or nil if there are none. See BackOff.ForgetGone.
	BackOff *BackOff
	// Refusals are the nodes that an Approver refused recently, or whose commands could not be carried out, or nil if there are none.
	Refusals *Refusals
}

// InputError means that an Input is invalid.
type InputError struct {
	// Field is the path of the invalid field in Input.
	Field string
	// Rule says which rule is broken, and how to correct it.
	Rule string
}

func (e *InputError) Error() string { return fmt.Sprintf("disruption: input: %s: %s", e.Field, e.Rule) }

// Fleet is a cluster as disruption sees it at one moment: which nodes are candidates, and why the others are not. It is
// read-only and safe for concurrent use.
type Fleet struct {
	// Candidates may be disrupted by methods of ClassEventual, and candidates without PodBlock also by methods of ClassGraceful. They are
	// sorted by name.
	Candidates []*Candidate
	// Blocked are all other nodes, with their blocks.
	Blocked map[string]*Block

	// picture is the fleet as the planners in internal/consolidate use it.
	picture *survey.Fleet
}

// Survey examines every node of the cluster. The error is an *InputError, a *scheduling.SnapshotError for an invalid snapshot, or a
// *pods.BudgetError: if a PodDisruptionBudget can't be read, nobody knows which pods it protects.
func Survey(in Input) (*Fleet, error) {
	switch {
	case in.View == nil || in.View.Snapshot == nil:
		return nil, &InputError{"View", "is missing: take it from cluster.State, or make one by ViewOf"}
	case len(in.View.Nodes) != len(in.View.Snapshot.Nodes):
		return nil, &InputError{"View.Nodes", fmt.Sprintf("has %d entries for %d nodes: they belong together", len(in.View.Nodes), len(in.View.Snapshot.Nodes))}
	}
	p, err := survey.Of(survey.Input{
		View: in.View, Model: in.Model.Engine(), Executing: in.Executing, Buffered: in.Buffered, Budgets: in.Budgets, History: in.History,
		Unreached: in.Unreached, BackOff: in.BackOff.inner(), Refusals: in.Refusals.inner(),
	})
	if err != nil {
		return nil, err
	}
	return &Fleet{Candidates: p.Candidates, Blocked: p.Blocked, picture: p}, nil
}

// seen returns f.picture. It returns nil if f is nil or if Survey did not make f.
func (f *Fleet) seen() *survey.Fleet {
	if f == nil {
		return nil
	}
	return f.picture
}

// Time returns the time at which the fleet was surveyed. It is the present time of every decision about the fleet.
func (f *Fleet) Time() time.Time {
	if f.seen() == nil {
		return time.Time{}
	}
	return f.picture.Now
}

// Candidate returns the candidate with this name, or nil if the node is not a candidate.
func (f *Fleet) Candidate(name string) *Candidate {
	if f.seen() == nil {
		return nil
	}
	return f.picture.ByName[name]
}

// Eligible returns the candidates that a method accepts, sorted, and for all other candidates the block, by name.
func (f *Fleet) Eligible(m Method) (accepted []*Candidate, refused map[string]*Block) {
	if f.seen() == nil {
		return nil, map[string]*Block{}
	}
	return f.picture.Eligible(m)
}

// BudgetFaults returns the invalid budgets of NodePools, by pool and index, as *BudgetErrors. Until a budget is corrected, no node of the
// pool is disrupted for the budget's reasons.
func (f *Fleet) BudgetFaults() []error {
	if f.seen() == nil {
		return nil
	}
	return f.picture.BudgetFaults()
}

// ViewOf makes a view of a snapshot without a live cluster, for instance of a snapshot that was saved or read from manifests. No node is
// nominated or marked, and the time of the last pod event comes from the NodeClaim. A node is a candidate only if it has a NodeClaim
// (scheduling.JoinNode joins both), is initialized by its label karpenter.sh/initialized and by its claim's condition Initialized, and has
// the labels of its pool, instance type, zone and capacity type. A node whose condition Ready is not true counts as disrupted in its pool's
// budgets.
func ViewOf(s *scheduling.Snapshot) *cluster.View { return survey.ViewOf(s) }
