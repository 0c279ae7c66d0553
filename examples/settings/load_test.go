package settings_test

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
	"github.com/drawknife/drawknife/scheduling"
)

// environment is a look-up in a map.
func environment(variables map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { text, there := variables[name]; return text, there }
}

// load reads sources that are expected to be in order.
func load(t *testing.T, from settings.Sources) *settings.Loaded {
	t.Helper()
	loaded, err := settings.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// problems are code, source and name of each problem.
func problems(list []*settings.Problem) []string {
	var out []string
	for _, p := range list {
		out = append(out, string(p.Code)+" "+string(p.Source)+" "+p.Name)
	}
	return out
}

// refused are the problems of an error.
func refused(t *testing.T, err error) []string {
	t.Helper()
	var all *settings.Error
	if !errors.As(err, &all) {
		t.Fatalf("got error %v, want a *settings.Error", err)
	}
	return problems(all.Problems)
}

// SET-170: nothing but the cluster's name gives every default: SET-105 to SET-111, SET-116 to SET-130, SET-137 to SET-157, DIS-288.
func TestDefaults(t *testing.T) {
	got := load(t, settings.Sources{LookupEnv: environment(map[string]string{"CLUSTER_NAME": "blue"})})
	want := settings.Settings{
		Planning: settings.Planning{
			BatchMaxDuration: 10 * time.Second, BatchIdleDuration: time.Second,
			PreferencePolicy: scheduling.PreferencesRespect, MinValuesPolicy: scheduling.MinValuesStrict, IgnoreResourceClaims: true,
			DisruptionPlanner: settings.PlannerGlobal, Disruption: settings.DefaultDisruption(), Approval: settings.ApprovalNone, ApprovalWait: time.Hour, Eviction: settings.EvictAtOnce,
			FeatureGates: settings.FeatureGates{Drift: true, ReservedCapacity: true}, ServeAlpha: true, ServeBeta: true,
		},
		AWS: settings.AWS{
			ClusterName: "blue", VMMemoryOverheadPercent: 0.075, BurstLaunches: 10,
			AMIRefreshInterval: time.Minute, SubnetRefreshInterval: time.Minute, Partition: "aws",
		},
		Process: settings.Process{
			Provider: settings.ProviderAWS, SystemNamespace: "kube-system",
			MetricsPort: 8080, HealthProbePort: 8081, WebhookPort: 8443, DisableWebhook: true, WebhookService: "drawknife", KarpenterLease: "karpenter-leader-election", Adopt: settings.AdoptNo,
			KubeClientQPS: 200, KubeClientBurst: 300,
			LeaderElection: true, LeaderElectionName: "drawknife-leader-election", LeaderElectionNamespace: "kube-system",
			MemoryLimit: -1, LogLevel: slog.LevelInfo, LogEncoding: settings.LogJSON,
			LogOutputPaths: []string{"stdout"}, LogErrorOutputPaths: []string{"stderr"},
		},
	}
	if diff := cmp.Diff(want, got.Settings); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	if len(got.Warnings) > 0 {
		t.Errorf("got warnings %v", problems(got.Warnings))
	}
}

// SET-158, SET-177, SET-003: flag beats environment beats file beats ConfigMap, and Effective names the source (SET-169).
func TestPrecedence(t *testing.T) {
	file := func(string) ([]byte, error) { return []byte("settings:\n  batchMaxDuration: 12s\n"), nil }
	sources := settings.Sources{
		Args:      []string{"--batch-max-duration", "14s", "--settings-file=values.yaml"},
		LookupEnv: environment(map[string]string{"CLUSTER_NAME": "blue", "BATCH_MAX_DURATION": "13s"}),
		ReadFile:  file,
		ConfigMap: map[string]string{"batchMaxDuration": "11s", "aws.clusterName": "green"},
	}
	for _, c := range []struct {
		name   string
		change func(*settings.Sources)
		want   settings.Value
	}{
		{"flag", func(*settings.Sources) {}, settings.Value{Name: "batch-max-duration", Text: "14s", Source: settings.SourceFlag, WrittenAs: "--batch-max-duration"}},
		{"environment", func(s *settings.Sources) { s.Args = s.Args[2:] }, settings.Value{Name: "batch-max-duration", Text: "13s", Source: settings.SourceEnv, WrittenAs: "BATCH_MAX_DURATION"}},
		{"file", func(s *settings.Sources) { s.LookupEnv = nil }, settings.Value{Name: "batch-max-duration", Text: "12s", Source: settings.SourceFile, WrittenAs: "settings.batchMaxDuration"}},
		{"ConfigMap", func(s *settings.Sources) { s.Args = nil }, settings.Value{Name: "batch-max-duration", Text: "11s", Source: settings.SourceFile, WrittenAs: "batchMaxDuration"}},
		{"default", func(s *settings.Sources) { delete(s.ConfigMap, "batchMaxDuration") }, settings.Value{Name: "batch-max-duration", Text: "10s", Source: settings.SourceDefault}},
	} {
		c.change(&sources)
		if got := load(t, sources).Effective()[0]; got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// The command line is refused as a whole where it can't be read, and asked for help it gives the usage text, with the
// defaults that the environment makes (SET-160).
func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"--no-such-flag"}, {"stray"}, {"--provider"}} {
		if _, err := settings.Load(settings.Sources{Args: args}); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	_, err := settings.Load(settings.Sources{
		Args: []string{"-help"}, LookupEnv: environment(map[string]string{"BATCH_MAX_DURATION": "33s"}),
		MoreFlags: func(fs *flag.FlagSet) { fs.Bool("verbose", false, "one of the program's own") },
	})
	var help *settings.HelpError
	if !errors.As(err, &help) || !errors.Is(err, flag.ErrHelp) {
		t.Fatalf("got %v, want help", err)
	}
	for _, want := range []string{"-batch-max-duration", "(default 33s)", "-verbose", "-settings-file", "old name: use --disable-leader-election"} {
		if !strings.Contains(help.Usage, want) {
			t.Errorf("the usage text lacks %q:\n%s", want, help.Usage)
		}
	}
}

// A settings file that can't be read is a problem of the user who named it.
func TestUnreadableFile(t *testing.T) {
	missing := func(string) ([]byte, error) { return nil, os.ErrNotExist }
	for _, c := range []struct {
		from settings.Sources
		want string
	}{
		{settings.Sources{Args: []string{"--settings-file", "a.yaml"}, ReadFile: missing}, "W706 flag --settings-file"},
		{settings.Sources{LookupEnv: environment(map[string]string{"SETTINGS_FILE": "a.yaml"}), ReadFile: missing}, "W706 env SETTINGS_FILE"},
		{settings.Sources{Args: []string{"-settings-file=a.yaml"}}, "W706 flag --settings-file"},
	} {
		c.from.Args = append(c.from.Args, "--cluster-name=blue")
		_, err := settings.Load(c.from)
		if diff := cmp.Diff([]string{c.want}, refused(t, err)); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	}
}
