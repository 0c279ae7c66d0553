package settings_test

import (
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/scheduling"
)

// What nobody sets is the planner's own default, and 0 is none of it.
func TestDisruptionOptions(t *testing.T) {
	query := scheduling.Query{Preferences: scheduling.PreferencesIgnore}
	for name, c := range map[string]struct {
		planner settings.DisruptionPlanner
		options settings.Disruption
		want    disruption.Planner
	}{
		"defaults": {settings.PlannerGlobal, settings.DefaultDisruption(), &disruption.Global{
			Query: query, SpotToSpot: true, PayBack: disruption.DefaultPayBack, MinSavingShare: disruption.DefaultMinSavingShare, DisruptionPrice: disruption.DefaultDisruptionPrice, CoolDown: disruption.DefaultCoolDown,
			SpotToSpotTypes: disruption.DefaultSpotToSpotTypes, MaxMembers: disruption.DefaultMaxMembers, MaxBins: disruption.DefaultMaxBins, Work: disruption.DefaultWork,
			LaunchTime: disruption.DefaultLaunchTime, ReadyTime: disruption.DefaultReadyTime, DrainLimit: disruption.DefaultDrainLimit, ValidationDelay: disruption.DefaultValidationDelay,
		}},
		"none": {settings.PlannerGlobal, settings.Disruption{SpotToSpotTypes: 1, MaxMembers: 1, MaxBins: 1, Work: 1}, &disruption.Global{
			Query: query, SpotToSpot: true, PayBack: -1, MinSavingShare: -1, DisruptionPrice: -1, CoolDown: -1, SpotToSpotTypes: 1, MaxMembers: 1, MaxBins: 1, Work: 1,
			LaunchTime: -1, ReadyTime: -1, DrainLimit: -1, ValidationDelay: -1,
		}},
		"all": {settings.PlannerGlobal, settings.Disruption{
			PayBack: 1, MinSaving: 2, MinSavingShare: 0.3, Price: 4, CoolDown: 5, SpotToSpotTypes: 6, MaxMembers: 7, MaxBins: 8, Work: 9, Robustness: 10, Checks: 16,
			LaunchTime: 11, ReadyTime: 12, DrainLimit: 13, ExpireAhead: 14, ValidationDelay: 15,
		}, &disruption.Global{
			Query: query, SpotToSpot: true, PayBack: 1, MinSaving: 2, MinSavingShare: 0.3, DisruptionPrice: 4, CoolDown: 5, SpotToSpotTypes: 6, MaxMembers: 7, MaxBins: 8,
			Work: 9, Robustness: 10, Checks: 16, LaunchTime: 11, ReadyTime: 12, DrainLimit: 13, ExpireAhead: 14, ValidationDelay: 15,
		}},
		"reference": {settings.PlannerReference, settings.Disruption{SpotToSpotTypes: 6, PayBack: 1, ValidationDelay: 15}, &disruption.Reference{
			Query: query, SpotToSpot: true, SpotToSpotTypes: 6, ValidationDelay: 15,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.options.Planner(c.planner, query, true)); diff != "" {
				t.Errorf("planner (-want +got):\n%s", diff)
			}
		})
	}
}

// The flags by themselves: defaults that are shown, values, and what can't be.
func TestDisruptionFlags(t *testing.T) {
	d := settings.DefaultDisruption()
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	d.AddFlags(fs)
	if got := fs.Lookup("disruption-cool-down").DefValue; got != "10m0s" {
		t.Errorf("the default shown is %q", got)
	}
	if err := fs.Parse([]string{"--disruption-robustness=8", "--disruption-cool-down", "0s", "--disruption-min-saving=0.25"}); err != nil {
		t.Fatal(err)
	}
	want := settings.DefaultDisruption()
	want.Robustness, want.CoolDown, want.MinSaving = 8, 0, 0.25
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	for arg, says := range map[string]string{
		"--disruption-robustness=-1":       "it must be from 0 to 1000",
		"--disruption-pay-back=2":          "it has no unit; write 2s for seconds",
		"--disruption-min-saving-share=15": "as 0.15 for 15 %",
	} {
		if err := fs.Parse([]string{arg}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", arg, err, says)
		}
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("after refusals (-want +got):\n%s", diff)
	}
}

// The planner reference heeds what Karpenter has, and the settings carry what the flags say.
func TestHeededDisruptionFlags(t *testing.T) {
	all, heeded := settings.DisruptionFlags(settings.PlannerGlobal)
	if diff := cmp.Diff(all, heeded); diff != "" {
		t.Errorf("global (-all +heeded):\n%s", diff)
	}
	_, heeded = settings.DisruptionFlags(settings.PlannerReference)
	if diff := cmp.Diff([]string{"disruption-spot-to-spot-types", "disruption-validation-delay"}, heeded); diff != "" {
		t.Errorf("reference (-want +got):\n%s", diff)
	}
	loaded := load(t, settings.Sources{Args: []string{"--cluster-name=blue", "--disruption-pay-back=3h"}})
	if loaded.Settings.Planning.Disruption.PayBack != 3*time.Hour || !slices.Contains(all, "disruption-pay-back") {
		t.Errorf("got %+v, flags %v", loaded.Settings.Planning.Disruption, all)
	}
}
