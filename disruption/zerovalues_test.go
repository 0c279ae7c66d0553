package disruption_test

import (
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// What embedders may leave out, or declare without a constructor, is of use as it is.
func TestZeroValues(t *testing.T) {
	pool := v1.NewPoolKey("default")
	var none *disruption.BackOff
	if none.Succeeded(pool); none.Failed(pool, now()) {
		t.Error("nothing remembers a failure")
	}
	var backOff disruption.BackOff
	if !backOff.Failed(pool, now()) || backOff.Blocks(pool, now()) == nil {
		t.Error("a back-off that was only declared forgets")
	}
	var refusals disruption.Refusals
	cmd, _ := newStage(1, 0)
	step := disruption.ExecuteApproved(cmd, disruption.ApprovalPolicy{}).Next(disruption.Observed{Approval: &disruption.Approval{Decision: disruption.Refused}}, now())
	if refusals.Note(step.Err, now()); refusals.Blocks(cmd.Members[0].UID, cmd.Reason, now()) == nil {
		t.Error("refusals that were only declared forget")
	}
	if step := disruption.Repair(disruption.RepairState{Claim: &v1.NodeClaim{}, Policies: repairPolicies()}, now()); step != (disruption.RepairStep{}) {
		t.Errorf("a claim without a node is repaired: %+v", step)
	}
}

// An answer to the question whether a command is still good that says neither is none: it is asked again.
func TestValidationThatSaysNothing(t *testing.T) {
	cmd, s := newStage(1, 0)
	e := disruption.Execute(cmd)
	s.now = s.now.Add(time.Minute)
	s.step(e)
	step := e.Next(disruption.Observed{Members: s.members, Validation: &disruption.Validation{}}, s.now)
	if len(step.Effects) != 1 || step.Effects[0] != disruption.Effect(disruption.ValidateCommand{Command: cmd}) || step.State != disruption.StateValidating {
		t.Errorf("%+v", step)
	}
}
