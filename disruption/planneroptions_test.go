package disruption_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/disruption"
)

// The planners refuse options outside their range, whichever method is called, and name the option.
func TestOptionsOutOfRange(t *testing.T) {
	w := newWorld()
	w.node("n", "c4")
	f := w.fleet(t)
	cmd := w.plan(t, &disruption.Reference{}).Commands[0]
	for name, g := range map[string]disruption.Global{
		"PayBack": {PayBack: ptr(-time.Second)}, "CoolDown": {CoolDown: ptr(-time.Second)}, "LaunchTime": {LaunchTime: ptr(-time.Second)},
		"ReadyTime": {ReadyTime: ptr(-time.Second)}, "DrainLimit": {DrainLimit: ptr(-time.Second)}, "ExpireAhead": {ExpireAhead: -1},
		"ValidationDelay": {ValidationDelay: ptr(-time.Second)}, "MinSaving": {MinSaving: math.Inf(1)}, "DisruptionPrice": {DisruptionPrice: ptr(math.NaN())},
		"MinSavingShare": {MinSavingShare: ptr(1.0)}, "SpotToSpotTypes": {SpotToSpotTypes: ptr(0)}, "MaxMembers": {MaxMembers: ptr(0)}, "MaxBins": {MaxBins: ptr(0)},
		"Work": {Work: ptr(0)}, "Parallelism": {Parallelism: ptr(0)}, "Robustness": {Robustness: -1}, "Checks": {Checks: -1},
	} {
		_, plan := g.Plan(t.Context(), f)
		_, _, again := g.PlanAgain(t.Context(), f, nil)
		_, _, restrict := g.Restrict(t.Context(), f, []*disruption.Command{cmd})
		_, validate := g.Validate(t.Context(), f, cmd)
		for method, err := range map[string]error{"Plan": plan, "PlanAgain": again, "Restrict": restrict, "Validate": validate} {
			refused(t, "Global", name, method, err)
		}
	}
	for name, r := range map[string]disruption.Reference{
		"SpotToSpotTypes": {SpotToSpotTypes: ptr(0)}, "MaxBatch": {MaxBatch: ptr(0)}, "ValidationDelay": {ValidationDelay: ptr(-time.Second)}, "MaxTrials": {MaxTrials: ptr(0)},
	} {
		_, plan := r.Plan(t.Context(), f)
		_, validate := r.Validate(t.Context(), f, cmd)
		refused(t, "Reference", name, "Plan", plan)
		refused(t, "Reference", name, "Validate", validate)
	}
	both := disruption.Global{MaxBins: ptr(0), Checks: -1}
	want := "disruption: option Global.MaxBins: is 0: it must be at least 1\ndisruption: option Global.Checks: is -1: it must be at least 0"
	if _, err := both.Plan(t.Context(), f); err == nil || err.Error() != want {
		t.Errorf("two of them:\n%v, want\n%s", err, want)
	}
}

func refused(t *testing.T, planner, name, method string, err error) {
	t.Helper()
	var wrong *option.Error
	if !errors.As(err, &wrong) || wrong.Package != "disruption" || wrong.Option != planner+"."+name || wrong.Rule == "" {
		t.Errorf("%s.%s: option %s: %v", planner, method, name, err)
	}
}

// An option that is nil has its default: a planner that names the defaults makes the same plan.
func TestDefaultOptions(t *testing.T) {
	_, s := randomFleet(0)
	f := surveyed(t, s)
	named := &disruption.Global{
		PayBack: ptr(disruption.DefaultPayBack), MinSavingShare: ptr(disruption.DefaultMinSavingShare), DisruptionPrice: ptr(disruption.DefaultDisruptionPrice),
		CoolDown: ptr(disruption.DefaultCoolDown), SpotToSpotTypes: ptr(disruption.DefaultSpotToSpotTypes), MaxBins: ptr(disruption.DefaultMaxBins),
		Work: ptr(disruption.DefaultWork), Parallelism: ptr(2), LaunchTime: ptr(disruption.DefaultLaunchTime), ReadyTime: ptr(disruption.DefaultReadyTime),
		DrainLimit: ptr(disruption.DefaultDrainLimit), ValidationDelay: ptr(disruption.DefaultValidationDelay),
	}
	var plans []string
	for _, planner := range []disruption.Planner{&disruption.Global{}, named} {
		plan, err := planner.Plan(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, fmt.Sprint(plan.Commands))
	}
	if diff := cmp.Diff(plans[0], plans[1]); diff != "" || plans[0] == "[]" {
		t.Errorf("nil and named defaults (-nil +named):\n%s", diff)
	}
}
