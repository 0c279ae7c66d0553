package disruption

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Planner decides which nodes to disrupt. Implementations are pure: the same fleet gives the same plan, and nothing is changed. Reference
// and Global are planners.
type Planner interface {
	// Plan finds the commands that are worth their cost now. If the context is cancelled, it returns ctx.Err() and no plan.
	Plan(ctx context.Context, f *Fleet) (*Plan, error)
	// Validate checks whether an earlier command is still valid in the present fleet. It returns the command to start, which may have fewer
	// members if MayShrink is set. If the command is no longer valid, the error is a *RejectedError.
	Validate(ctx context.Context, f *Fleet, cmd *Command) (*Command, error)
}

// Plan is a planner's result. It is plain data, and all its lists have a defined order.
type Plan struct {
	// Time is the time of the fleet that the plan was made for.
	Time time.Time `json:"time"`
	// Commands are in the order in which they were found. All of them may be carried out at the same time.
	Commands []*Command `json:"commands,omitempty"`
	// Waves say in which order to carry the commands out, and how long that takes. Commands are in the order of the waves. Reference makes
	// none.
	Waves []Wave `json:"waves,omitempty"`
	// FloorPrices are the prices that proofs in Verdicts refer to by number.
	FloorPrices []FloorPrices `json:"floorPrices,omitempty"`
	// Cost is the cost of the candidates in USD per hour. Floor is the lowest cost of new nodes for the pods of all nodes. Reference leaves
	// them 0.
	Cost  float64 `json:"cost,omitempty"`
	Floor float64 `json:"floor,omitempty"`
	// Verdicts has one verdict for each node of the view that a pool owns, sorted by name.
	Verdicts []Verdict `json:"verdicts"`
	// Waiting means that something was left out because of budgets, or until a later time. Planning again is useful even if nothing else
	// has changed. Again is the time at which to plan again, if it is known.
	Waiting bool      `json:"waiting,omitempty"`
	Again   time.Time `json:"again,omitzero"`
	// Unsettled are the IDs of commands for whose pods provisioning may launch further nodes: see Global.Checks. Like Karpenter, Reference
	// does not check this, so its plans list no commands here.
	Unsettled []string `json:"unsettled,omitempty"`
	// Unreached are pools that the search did not reach: pass them to the next Input.
	Unreached []v1.PoolKey `json:"unreached,omitempty"`
}

// atLeast returns an error if value, of the planner's option name, is less than minimum.
func atLeast[T int | time.Duration](name string, value, minimum T) error {
	if value >= minimum {
		return nil
	}
	return &option.Error{Package: "disruption", Option: name, Rule: fmt.Sprintf("is %v: it must be at least %v", value, minimum)}
}

// amount returns an error if value, of the planner's option name, is not a finite amount of at least 0.
func amount(name string, value float64) error {
	if value >= 0 && value <= math.MaxFloat64 {
		return nil
	}
	return &option.Error{Package: "disruption", Option: name, Rule: fmt.Sprintf("is %g: it must be a finite number of at least 0", value)}
}

// share returns an error if value, of the planner's option name, is less than 0, or 1 or more.
func share(name string, value float64) error {
	if value >= 0 && value < 1 {
		return nil
	}
	return &option.Error{Package: "disruption", Option: name, Rule: fmt.Sprintf("is %g: it must be at least 0 and less than 1, as 0.15 for 15 %%", value)}
}
