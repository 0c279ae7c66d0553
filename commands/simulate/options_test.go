package simulate

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/scheduling"
)

func TestParseOptions(t *testing.T) {
	defaults := func(change func(*options)) options {
		o := options{program: "simulate", provider: providerFile, output: outputText, color: colorAuto, planner: settings.PlannerGlobal, disruption: settings.DefaultDisruption(), maxReplicas: 100_000, replay: replayOptions{interruptions: 1, every: time.Hour, seed: 1}, usage: usageOptions{percentile: 95}, query: scheduling.Query{
			Preferences: scheduling.PreferencesRespect, MinValues: scheduling.MinValuesStrict, Reserved: scheduling.ReservedFallback, Preemption: scheduling.PreemptionIgnore,
		}}
		change(&o)
		return o
	}
	tests := []struct {
		name string
		args string
		want options
	}{
		{"nothing", "", defaults(func(*options) {})},
		{"inputs keep their order", "b.yaml a.yaml -", defaults(func(o *options) {
			o.inputs = []string{"b.yaml", "a.yaml", "-"}
		})},
		{"flags before, between and after inputs", "-o json a --verbose b --catalog=c.json", defaults(func(o *options) {
			o.inputs, o.output, o.verbose, o.catalog = []string{"a", "b"}, outputJSON, true, "c.json"
		})},
		{"after -- everything is an input", "-v -- -o json", defaults(func(o *options) {
			o.inputs, o.verbose = []string{"-o", "json"}, true
		})},
		{"zones in any order, once each", "--zones us-east-1b,us-east-1a,us-east-1b", defaults(func(o *options) {
			o.zones = []string{"us-east-1a", "us-east-1b"}
		})},
		{"time and timeout", "--now 2026-05-01T12:00:00Z --timeout 90s", defaults(func(o *options) {
			o.now, o.timeout = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), 90*time.Second
		})},
		{"replay", "--snapshot s.yaml -o json --certificate c.json", defaults(func(o *options) {
			o.snapshot, o.output, o.certificate = "s.yaml", outputJSON, "c.json"
		})},
		{"a replay may be saved again", "--snapshot s.yaml --save-snapshot t.yaml", defaults(func(o *options) {
			o.snapshot, o.saveSnapshot = "s.yaml", "t.yaml"
		})},
		{"policies", "--preferences ignore --min-values best-effort --reserved strict --preemption expect --snapshot s.yaml", defaults(func(o *options) {
			o.snapshot = "s.yaml"
			o.query.Preferences = scheduling.PreferencesIgnore
			o.query.MinValues, o.query.Reserved = scheduling.MinValuesBestEffort, scheduling.ReservedStrict
			o.query.Preemption = scheduling.PreemptionExpect
		})},
		{"policies as they are by default", "--preferences respect --min-values strict --reserved fallback --preemption ignore", defaults(func(*options) {})},
		{"AWS", "--provider aws", defaults(func(o *options) { o.provider = providerAWS })},
		{"AWS in a region", "--region eu-west-1 --provider=aws --zones eu-west-1a", defaults(func(o *options) {
			o.provider, o.region, o.zones = providerAWS, "eu-west-1", []string{"eu-west-1a"}
		})},
		{"consolidation by the controller's flags", "--consolidate --disruption-planner=global --disruption-robustness 8 --disruption-min-saving=0.5 --disruption-cool-down 0s", defaults(func(o *options) {
			o.consolidate = true
			o.disruption.Robustness, o.disruption.MinSaving, o.disruption.CoolDown = 8, 0.5, 0
		})},
		{"Karpenter's way", "--consolidate --planner=reference --spot-to-spot --disruption-spot-to-spot-types=5", defaults(func(o *options) {
			o.consolidate, o.planner, o.spotToSpot, o.disruption.SpotToSpotTypes = true, settings.PlannerReference, true, 5
		})},
		{"a replay by the controller's thresholds", "--replay t.csv --consolidate-every 15m --disruption-pay-back 8h --disruption-min-saving-share 0.3 --disruption-price 0 --disruption-cool-down 0s", defaults(func(o *options) {
			o.replay.trace, o.replay.every = "t.csv", 15*time.Minute
			o.disruption.PayBack, o.disruption.MinSavingShare, o.disruption.Price, o.disruption.CoolDown = 8*time.Hour, 0.3, 0, 0
		})},
		{"usage", "--usage ./a=b.json --usage cpu=c.json --usage-percentile 99", defaults(func(o *options) {
			o.usage = usageOptions{files: []usageFile{{name: "./a=b.json"}, {name: "c.json", resource: "cpu"}}, percentile: 99}
		})},
		{"catalogue with prices", "--catalog c.json --prices p.json", defaults(func(o *options) {
			o.catalog, o.prices = "c.json", "p.json"
		})},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseOptions(strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(options{}, workloadOptions{}, replayOptions{}, spotRisk{}, clusterOptions{}, explainOptions{}, policyOptions{}, rendering{}, usageOptions{}, usageFile{})); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseOptionsRefuses(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"an unknown flag", "--nodes 3", "-nodes"},
		{"an unknown format", "-o xml", `--output "xml": not one of text, wide, json, yaml, markdown, csv`},
		{"an unknown colour mode", "--color blue", `--color "blue": not one of auto, always, never`},
		{"an unknown policy", "--preferences Ignore", `--preferences "Ignore": not one of respect, ignore`},
		{"a label for a page that is not written", "--cost-label team", "--cost-label: use it only with --html"},
		{"an unknown policy for minValues", "--min-values none", `--min-values "none": not one of strict, best-effort`},
		{"an unknown policy for preemption", "--preemption never", `--preemption "never": not one of ignore, expect`},
		{"an empty policy", "--reserved=", `--reserved "": not one of fallback, strict`},
		{"an empty zone", "--zones us-east-1a,", `--zones "us-east-1a,": a zone is empty`},
		{"no zones at all", "--zones=", `--zones "": a zone is empty`},
		{"a time in another form", "--now yesterday", `--now "yesterday": not a time like`},
		{"a negative timeout", "--timeout -1s", "--timeout -1s: must not be negative"},
		{"an empty file name", "--catalog=", "--catalog: needs the name of a file"},
		{"prices without a catalogue", "--prices p.json", "--prices: use it only with --catalog"},
		{"an unknown provider", "--provider gcp", `--provider "gcp": not one of file, aws`},
		{"a region of a catalogue", "--region eu-west-1 --catalog c.json", "a catalogue file contains its region"},
		{"anonymous for nothing", "--anonymize", "--anonymize: use it only with --save-snapshot"},
		{"a key for nothing", "--save-snapshot s.yaml --anonymize-key k", "--anonymize-key: use it only with --anonymize"},
		{"no region", "--provider aws --region=", "--region: needs the name of a region"},
		{"AWS and a catalogue", "--provider aws --catalog c.json", "leave out --catalog"},
		{"AWS and prices", "--provider aws --prices p.json", "leave out --prices"},
		{"replay with AWS", "--snapshot s.yaml --provider aws", "leave out --provider"},
		{"standard input twice", "- -", "can be read only once"},
		{"replay with inputs", "--snapshot s.yaml pods.yaml", "leave out pods.yaml"},
		{"replay with another catalogue", "--snapshot s.yaml --catalog c.json", "leave out --catalog"},
		{"replay with zones", "--snapshot s.yaml --zones us-east-1a", "leave out --zones"},
		{"robustness of pods' places", "--disruption-robustness 8", "--disruption-robustness: use it only with --consolidate"},
		{"robustness of Karpenter's methods", "--consolidate --planner reference --disruption-robustness 8", "--disruption-robustness: use it only with --planner global"},
		{"a threshold without a question", "--disruption-pay-back 1h", "--disruption-pay-back: use it only with --consolidate or --replay"},
		{"a replay's robustness", "--replay t.csv --disruption-robustness 8", "--disruption-robustness: use it only with --consolidate"},
		{"a replay's share in percent", "--replay t.csv --disruption-min-saving-share 15", "as 0.15 for 15 %"},
		{"a replay's negative price", "--replay t.csv --disruption-price -1", "it must be from 0 to"},
		{"a negative cool-down", "--replay t.csv --disruption-cool-down -1m", "it must be at least 0"},
		{"looks before the last", "--replay t.csv --consolidate-every -1m", "must not be negative"},
		{"looks without a replay", "--consolidate-every 1m", "--consolidate-every: use it only with --replay"},
		{"types for nothing", "--consolidate --disruption-spot-to-spot-types 5", "use it only with --spot-to-spot"},
		{"a share in percent", "--consolidate --disruption-min-saving-share 15", "it must be at least 0 and less than 1, as 0.15 for 15 %"},
		{"a duration without unit", "--consolidate --disruption-pay-back 2", "it has no unit"},
		{"replay at another time", "--snapshot s.yaml --now 2026-05-01T12:00:00Z", "leave out --now"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := parseOptions(strings.Fields(test.args))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want it to contain %q", err, test.want)
			}
		})
	}
}

func TestParseOptionsHelp(t *testing.T) {
	for _, args := range []string{"--help", "-h", "pods.yaml --help"} {
		if _, err := parseOptions(strings.Fields(args)); !errors.Is(err, errHelp) {
			t.Errorf("%s: error is %v, want a request for help", args, err)
		}
	}
}

// What is no file and has the name of a flag was meant as one.
func TestFlagWithoutDashes(t *testing.T) {
	for input, want := range map[string]string{
		"version": "did you mean --version?", "consolidate": "did you mean --consolidate?", "none.yaml": "",
	} {
		var out, errs bytes.Buffer
		code := Run(t.Context(), []string{input}, strings.NewReader(""), &out, &errs, Options{})
		if code != exitInput || !strings.Contains(errs.String(), "no such file") || strings.Contains(errs.String(), "did you mean") != (want != "") ||
			!strings.Contains(errs.String(), want) {
			t.Errorf("%s: status %d, %s", input, code, &errs)
		}
	}
}
