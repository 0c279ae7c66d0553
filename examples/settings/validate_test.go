package settings_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
)

// SET-014, SET-175, SET-157, SET-161, SET-162, SET-011, SET-105 to SET-110, SET-116 to SET-128, SET-136, SET-144 to SET-157,
// SET-167: what can't be, with the source and the name as the user wrote it, the value and the cure.
func TestRefusedValues(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
		says string
	}{
		{"no cluster", []string{"--cluster-name="}, "W705 flag --cluster-name", "--cluster-name is required"},
		{"endpoint without scheme", []string{"--cluster-endpoint=example.com"}, "W706 flag --cluster-endpoint", `--cluster-endpoint: "example.com" is not a valid URL: write an absolute one`},
		{"endpoint without host", []string{"--cluster-endpoint=https://"}, "W706 flag --cluster-endpoint", "with a host"},
		{"no window", []string{"--batch-max-duration=0s"}, "W706 flag --batch-max-duration", "more than 0"},
		{"no idle time", []string{"--batch-idle-duration=0"}, "W706 flag --batch-idle-duration", "more than 0"},
		{"duration without unit", []string{"--batch-max-duration=10"}, "W706 flag --batch-max-duration", "write 10s for seconds"},
		{"duration that is none", []string{"--batch-max-duration=soon"}, "W706 flag --batch-max-duration", "as in 10s"},
		{"unknown policy", []string{"--preference-policy=ignore"}, "W706 flag --preference-policy", "write one of Respect, Ignore"},
		{"unknown minValues policy", []string{"--min-values-policy=x"}, "W706 flag --min-values-policy", "write one of Strict, BestEffort"},
		{"SET-110 unknown gate", []string{"--feature-gates=Dirft=true"}, "W706 flag --feature-gates", `unknown gate "Dirft"; known are Drift, `},
		{"boolean in capitals", []string{"--isolated-vpc=True"}, "W706 flag --isolated-vpc", `write "true" or "false"`},
		{"boolean as a number", []string{"--isolated-vpc=1"}, "W706 flag --isolated-vpc", `write "true" or "false"`},
		{"overhead of everything", []string{"--vm-memory-overhead-percent=1"}, "W706 flag --vm-memory-overhead-percent", "less than 1"},
		{"overhead that is no number", []string{"--vm-memory-overhead-percent=NaN"}, "W706 flag --vm-memory-overhead-percent", "write a number"},
		{"a burst of one", []string{"--burst-launches=1"}, "W706 flag --burst-launches", "at least 2"},
		{"negative interfaces", []string{"--reserved-enis=-1"}, "W706 flag --reserved-enis", "at least 0"},
		{"images too often", []string{"--ami-refresh-interval=59s"}, "W706 flag --ami-refresh-interval", "at least 1m"},
		{"subnets too often", []string{"--subnet-refresh-interval=59s"}, "W706 flag --subnet-refresh-interval", "at least 1m"},
		{"negative pay-back", []string{"--disruption-pay-back=-1s"}, "W706 flag --disruption-pay-back", "at least 0"},
		{"pay-back without unit", []string{"--disruption-pay-back=2"}, "W706 flag --disruption-pay-back", "it has no unit"},
		{"saving less than nothing", []string{"--disruption-min-saving=-1"}, "W706 flag --disruption-min-saving", "from 0 to 1000000, in USD per hour"},
		{"saving of everything", []string{"--disruption-min-saving-share=1"}, "W706 flag --disruption-min-saving-share", "less than 1, as 0.15 for 15 %"},
		{"price in pounds", []string{"--disruption-price=1e9"}, "W706 flag --disruption-price", "from 0 to 1000000, in USD"},
		{"negative cool-down", []string{"--disruption-cool-down=-1m"}, "W706 flag --disruption-cool-down", "at least 0"},
		{"no types", []string{"--disruption-spot-to-spot-types=0"}, "W706 flag --disruption-spot-to-spot-types", "at least 1"},
		{"no members", []string{"--disruption-max-members=0"}, "W706 flag --disruption-max-members", "at least 1"},
		{"no bins", []string{"--disruption-max-bins=-1"}, "W706 flag --disruption-max-bins", "at least 1"},
		{"no work", []string{"--disruption-work=0"}, "W706 flag --disruption-work", "at least 1"},
		{"orders without end", []string{"--disruption-robustness=1001"}, "W706 flag --disruption-robustness", "from 0 to 1000"},
		{"questions without end", []string{"--disruption-checks=10001"}, "W706 flag --disruption-checks", "from 0 to 10000"},
		{"unknown approval", []string{"--disruption-approval=yes"}, "W706 flag --disruption-approval", "write one of none, configmap"},
		{"a fee that does not exist", []string{"--fees=rent"}, "W706 flag --fees", "there is no fee"},
		{"no time to approve", []string{"--disruption-approval-wait=0s"}, "W706 flag --disruption-approval-wait", "more than 0"},
		{"half an order", []string{"--disruption-robustness=0.5"}, "W706 flag --disruption-robustness", "whole number"},
		{"negative time of launches", []string{"--disruption-launch-time=-1m"}, "W706 flag --disruption-launch-time", "at least 0"},
		{"negative time of pods", []string{"--disruption-ready-time=-1m"}, "W706 flag --disruption-ready-time", "at least 0"},
		{"negative limit of drains", []string{"--disruption-drain-limit=-1m"}, "W706 flag --disruption-drain-limit", "at least 0"},
		{"after it expired", []string{"--disruption-expire-ahead=-1m"}, "W706 flag --disruption-expire-ahead", "at least 0"},
		{"negative delay", []string{"--disruption-validation-delay=-1m"}, "W706 flag --disruption-validation-delay", "at least 0"},
		{"unknown partition", []string{"--aws-partition=aws-mars"}, "W706 flag --aws-partition", "aws-us-gov"},
		{"short sessions", []string{"--assume-role-duration=14m"}, "W706 flag --assume-role-duration", "at least 15m"},
		{"unknown node names", []string{"--aws-node-name-convention=x"}, "W706 flag --aws-node-name-convention", "resource-name"},
		{"unknown provider", []string{"--provider=gcp"}, "W706 flag --provider", "write one of aws, fake"},
		{"simulated nodes not allowed", []string{"--provider=fake"}, "W706 flag --provider", "say --allow-simulated-nodes"},
		{"port 0", []string{"--metrics-port=0"}, "W706 flag --metrics-port", "from 1 to 65535"},
		{"port too high", []string{"--webhook-port=65536"}, "W706 flag --webhook-port", "from 1 to 65535"},
		{"one port twice", []string{"--health-probe-port=8080"}, "W706 flag --health-probe-port", "--metrics-port is the same"},
		{"port that is no number", []string{"--metrics-port=http"}, "W706 flag --metrics-port", "digits"},
		{"no calls", []string{"--kube-client-qps=0"}, "W706 flag --kube-client-qps", "more than 0"},
		{"no burst", []string{"--kube-client-burst=0"}, "W706 flag --kube-client-burst", "at least 1"},
		{"no memory", []string{"--memory-limit=0"}, "W706 flag --memory-limit", "-1 for none"},
		{"unknown level", []string{"--log-level=trace"}, "W706 flag --log-level", "debug, info, warn or error"},
		{"unknown encoding", []string{"--log-encoding=text"}, "W706 flag --log-encoding", "json, console"},
		{"no paths", []string{"--log-output-paths="}, "W706 flag --log-output-paths", "single commas"},
		{"no lease", []string{"--leader-election-name="}, "W705 flag --leader-election-name", "is required"},
		{"no namespace", []string{"--system-namespace="}, "W705 flag --system-namespace", "is required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := settings.Load(settings.Sources{Args: append([]string{"--cluster-name=blue"}, c.args...)})
			if diff := cmp.Diff([]string{c.want}, refused(t, err)); diff != "" {
				t.Fatalf("problems (-want +got):\n%s", diff)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("says %v, not %q", err, c.says)
			}
		})
	}
}

// SET-167, SET-158: every problem of every source at once; typed errors.
func TestAllProblemsAtOnce(t *testing.T) {
	_, err := settings.Load(settings.Sources{
		Args:      []string{"--metrics-port=x"},
		LookupEnv: environment(map[string]string{"BATCH_MAX_DURATION": "10", "LOG_LEVEL": "loud"}),
		ConfigMap: map[string]string{"aws.reservedENIs": "-1"},
	})
	want := []string{
		"W706 flag --metrics-port", "W706 env BATCH_MAX_DURATION", "W706 env LOG_LEVEL", "W705 default --cluster-name", "W706 file aws.reservedENIs",
	}
	if diff := cmp.Diff(want, refused(t, err)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	var one *settings.Problem
	if !errors.As(err, &one) || one.Code != settings.CodeInvalid || one.Name != "--metrics-port" {
		t.Errorf("errors.As gives %+v", one)
	}
}

// SET-106, SET-178: an idle time longer than the window is limited to it, with a note.
func TestIdleTimeIsLimited(t *testing.T) {
	loaded := load(t, settings.Sources{ConfigMap: map[string]string{"aws.clusterName": "blue", "batchIdleDuration": "20s", "batchMaxDuration": "10s"}})
	if got := loaded.Settings.Planning.BatchIdleDuration.String(); got != "10s" {
		t.Errorf("idle time %s", got)
	}
	if diff := cmp.Diff([]string{"W708 file batchIdleDuration"}, problems(loaded.Warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if got, want := loaded.Warnings[0].Message, "BatchIdleDuration 20s is longer than BatchMaxDuration 10s and is limited to it"; got != want {
		t.Errorf("says %q", got)
	}
}

// A program that fills in Settings itself is told the fields (section 7: Validate reports every violation at once).
func TestValidate(t *testing.T) {
	s := settings.Default()
	s.Planning.BatchMaxDuration, s.AWS.VMMemoryOverheadPercent, s.Process.LogOutputPaths = -1, 2, nil
	s.Planning.PreferencePolicy, s.AWS.Legacy = "x", &settings.Legacy{}
	want := []string{
		"W706  Planning.BatchMaxDuration", "W706  Planning.PreferencePolicy", "W705  AWS.ClusterName", "W706  AWS.VMMemoryOverheadPercent",
		"W706  AWS.Legacy.NodeNameConvention", "W706  AWS.Legacy.AssumeRoleDuration", "W705  Process.LogOutputPaths",
	}
	if diff := cmp.Diff(want, refused(t, s.Validate())); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	s = settings.Default()
	s.AWS.ClusterName = "blue"
	if err := s.Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

// SET-116: the fake provider needs no cluster's name.
func TestFakeNeedsNoCluster(t *testing.T) {
	load(t, settings.Sources{Args: []string{"--provider", "fake", "--allow-simulated-nodes"}})
}

// SET-056, SET-153: nine tenths of the limit, without overflow.
func TestSoftMemoryLimit(t *testing.T) {
	for limit, want := range map[int64]int64{100: 90, 1<<63 - 1: 8301034833169298226, 15: 13} {
		if got, ok := (settings.Process{MemoryLimit: limit}).SoftMemoryLimit(); !ok || got != want {
			t.Errorf("of %d: %d, want %d", limit, got, want)
		}
	}
	if _, ok := (settings.Process{MemoryLimit: -1}).SoftMemoryLimit(); ok {
		t.Error("there is a limit where there is none")
	}
}
