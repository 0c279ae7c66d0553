package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/e2e/oracle"
	"github.com/drawknife/drawknife/internal/e2e/oracle/snapshots"
	"github.com/drawknife/drawknife/scheduling"
)

// defaultFleets is how many CI has planners go through.
const defaultFleets = 400

// rollouts counts what was acted out, up to the first fleet that is refused.
type rollouts struct {
	fleets, plans, commands, members, pods, launched, replays, parts int
	methods                                                          map[disruption.Method]int
	began                                                            time.Time
}

func (r *rollouts) String() string {
	return fmt.Sprintf("%d fleets, %d plans with commands: %d commands %v, %d nodes removed, %d launched, %d pods moved, %d rollouts, %d of parts; %s",
		r.fleets, r.plans, r.commands, r.methods, r.members, r.launched, r.pods, r.replays, r.parts, time.Since(r.began).Round(time.Millisecond))
}

func (r *rollouts) add(commands []*disruption.Command) {
	if len(commands) == 0 {
		return
	}
	r.plans++
	for _, cmd := range commands {
		r.commands++
		r.methods[cmd.Method]++
		r.members += len(cmd.Members)
		r.launched += len(cmd.Replacements)
		r.pods += cmd.Pods()
	}
}

// rollOut acts the commands out in each choice; it returns what is wrong, one line each.
func (r *rollouts) rollOut(t *rapid.T, s *scheduling.Snapshot, commands []*disruption.Command) []string {
	faults := oracle.Homeless(s, commands)
	choices, err := oracle.RolloutChoices(s, commands)
	if err != nil {
		return append(faults, err.Error())
	}
	for i, choice := range choices {
		refusals, err := oracle.Rollout(t.Context(), s, commands, choice)
		if err != nil {
			return append(faults, fmt.Sprintf("choice %d: %v", i, err))
		}
		r.replays++
		for _, refusal := range refusals {
			faults = append(faults, fmt.Sprintf("choice %d: %s", i, refusal))
		}
		if len(refusals) > 0 {
			break
		}
	}
	return faults
}

// drawnPlanner is one of the planners, with thresholds or without.
func drawnPlanner(t *rapid.T, q scheduling.Query) disruption.Planner {
	spot := rapid.Bool().Draw(t, "spot to spot")
	switch rapid.IntRange(0, 3).Draw(t, "planner") {
	case 0:
		return &disruption.Reference{Query: q, SpotToSpot: spot, SpotToSpotTypes: new(2)}
	case 1:
		return &disruption.Global{Query: q, SpotToSpot: spot, SpotToSpotTypes: new(2), CoolDown: new(time.Duration)}
	}
	return &disruption.Global{Query: q, SpotToSpot: true, SpotToSpotTypes: new(1), PayBack: new(time.Duration), MinSavingShare: new(float64), DisruptionPrice: new(float64), CoolDown: new(time.Duration), DrainLimit: new(time.Duration)}
}

// TestRollouts has plans of both planners carried out command by command, and asks kube-scheduler about each pod that has to
// move: in the order of the plan, whatever is launched of what a replacement may be; and again for a part of the plan that
// Restrict lets pass.
func TestRollouts(t *testing.T) {
	features := featuresFromEnv(t)
	setRapid(t)
	setFlag(t, "rapid.checks", "ORACLE_FLEETS", fmt.Sprint(defaultFleets))
	c := &rollouts{methods: map[disruption.Method]int{}, began: time.Now()}
	failed := false
	t.Cleanup(func() { fmt.Println("rollouts:", c) })
	rapid.Check(t, func(t *rapid.T) {
		s := snapshots.Fleets(features).Draw(t, "fleet")
		q := snapshots.Queries(features).Draw(t, "query")
		one := &rollouts{methods: map[disruption.Method]int{}}
		faults := one.check(t, s, drawnPlanner(t, q))
		if !failed {
			c.sum(one)
		}
		if len(faults) > 0 {
			failed = true
			save(t, s, q, faults...)
			t.Fatalf("the plan can't be carried out:\n%s", strings.Join(faults, "\n"))
		}
	})
	if len(features) < len(snapshots.All()) || t.Failed() {
		return
	}
	for _, m := range disruption.Methods() {
		if c.methods[m] == 0 {
			t.Errorf("no plan had a command of %s", m)
		}
	}
	if c.launched == 0 || c.parts == 0 {
		t.Errorf("%s: nothing was launched, or no part of a plan was carried out", c)
	}
}

// check plans and acts it out.
func (r *rollouts) check(t *rapid.T, s *scheduling.Snapshot, planner disruption.Planner) []string {
	r.fleets++
	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(s)})
	if err != nil {
		return []string{err.Error()}
	}
	plan, err := planner.Plan(t.Context(), fleet)
	if err != nil {
		return []string{err.Error()}
	}
	r.add(plan.Commands)
	faults := r.rollOut(t, s, plan.Commands)
	global, is := planner.(*disruption.Global)
	if !is || len(plan.Commands) < 2 || len(faults) > 0 {
		return faults
	}
	part := slices.DeleteFunc(slices.Clone(plan.Commands), func(*disruption.Command) bool { return rapid.Bool().Draw(t, "left out") })
	if rapid.Bool().Draw(t, "backwards") {
		slices.Reverse(part)
	}
	good, _, err := global.Restrict(t.Context(), fleet, part)
	if err != nil {
		return []string{err.Error()}
	}
	if len(good) > 0 {
		r.parts++
	}
	for _, fault := range r.rollOut(t, s, good) {
		faults = append(faults, "of a part: "+fault)
	}
	return faults
}

func (r *rollouts) sum(o *rollouts) {
	r.fleets += o.fleets
	r.plans += o.plans
	r.commands += o.commands
	r.members += o.members
	r.pods += o.pods
	r.launched += o.launched
	r.replays += o.replays
	r.parts += o.parts
	for m, n := range o.methods {
		r.methods[m] += n
	}
}
