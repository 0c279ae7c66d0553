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

func ptr[T any](v T) *T { return &v }

func span(d time.Duration) *time.Duration { return &d }

// The defaults are what the planner takes for nil, and 0 is 0. MaxMembers alone is nil: only then the planner also merges more nodes into one.
func TestDisruptionOptions(t *testing.T) {
	query := scheduling.Query{Preferences: scheduling.PreferencesIgnore}
	for name, c := range map[string]struct {
		planner settings.DisruptionPlanner
		options settings.Disruption
		want    disruption.Planner
	}{
		"defaults": {settings.PlannerGlobal, settings.DefaultDisruption(), &disruption.Global{
			Query: query, SpotToSpot: true, PayBack: ptr(disruption.DefaultPayBack), MinSavingShare: ptr(disruption.DefaultMinSavingShare), DisruptionPrice: ptr(disruption.DefaultDisruptionPrice), CoolDown: ptr(disruption.DefaultCoolDown),
			SpotToSpotTypes: ptr(disruption.DefaultSpotToSpotTypes), MaxBins: ptr(disruption.DefaultMaxBins), Work: ptr(disruption.DefaultWork),
			LaunchTime: ptr(disruption.DefaultLaunchTime), ReadyTime: ptr(disruption.DefaultReadyTime), DrainLimit: ptr(disruption.DefaultDrainLimit), ValidationDelay: ptr(disruption.DefaultValidationDelay),
		}},
		"none": {settings.PlannerGlobal, settings.Disruption{SpotToSpotTypes: 1, MaxMembers: 1, MaxBins: 1, Work: 1}, &disruption.Global{
			Query: query, SpotToSpot: true, PayBack: span(0), MinSavingShare: ptr(0.0), DisruptionPrice: ptr(0.0), CoolDown: span(0), SpotToSpotTypes: ptr(1), MaxMembers: ptr(1), MaxBins: ptr(1), Work: ptr(1),
			LaunchTime: span(0), ReadyTime: span(0), DrainLimit: span(0), ValidationDelay: span(0),
		}},
		"all": {settings.PlannerGlobal, settings.Disruption{
			PayBack: 1, MinSaving: 2, MinSavingShare: 0.3, Price: 4, CoolDown: 5, SpotToSpotTypes: 6, MaxMembers: 7, MaxBins: 8, Work: 9, Robustness: 10, Checks: 16,
			LaunchTime: 11, ReadyTime: 12, DrainLimit: 13, ExpireAhead: 14, ValidationDelay: 15,
		}, &disruption.Global{
			Query: query, SpotToSpot: true, PayBack: span(1), MinSaving: 2, MinSavingShare: ptr(0.3), DisruptionPrice: ptr(4.0), CoolDown: span(5), SpotToSpotTypes: ptr(6), MaxMembers: ptr(7), MaxBins: ptr(8),
			Work: ptr(9), Robustness: 10, Checks: 16, LaunchTime: span(11), ReadyTime: span(12), DrainLimit: span(13), ExpireAhead: 14, ValidationDelay: span(15),
		}},
		"reference": {settings.PlannerReference, settings.Disruption{SpotToSpotTypes: 6, PayBack: 1, ValidationDelay: 15}, &disruption.Reference{
			Query: query, SpotToSpot: true, SpotToSpotTypes: ptr(6), ValidationDelay: span(15),
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
