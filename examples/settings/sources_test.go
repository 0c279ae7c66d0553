package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/examples/settings"
)

// SET-159: an empty variable counts as unset, but for the queue, where it means that there is none.
func TestEmptyVariables(t *testing.T) {
	file := func(string) ([]byte, error) {
		return []byte("settings: {clusterName: blue, interruptionQueue: q, batchMaxDuration: 20s}\n"), nil
	}
	env := map[string]string{"CLUSTER_NAME": "", "INTERRUPTION_QUEUE": "", "BATCH_MAX_DURATION": "", "SETTINGS_FILE": "values.yaml"}
	loaded := load(t, settings.Sources{LookupEnv: environment(env), ReadFile: file})
	for name, want := range map[string]settings.Value{
		"cluster-name":       {Name: "cluster-name", Text: "blue", Source: settings.SourceFile, WrittenAs: "settings.clusterName"},
		"batch-max-duration": {Name: "batch-max-duration", Text: "20s", Source: settings.SourceFile, WrittenAs: "settings.batchMaxDuration"},
		"interruption-queue": {Name: "interruption-queue", Source: settings.SourceEnv, WrittenAs: "INTERRUPTION_QUEUE"},
	} {
		if got := at(t, loaded, name); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// SET-006, SET-161: booleans take true and false, with a space or an equals sign, and alone they mean true.
func TestBooleanFlags(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"--install-crds", "--install-crds=true"},
		{"--install-crds --provider fake", "--install-crds=true --provider fake"},
		{"--install-crds true --provider fake", "--install-crds true --provider fake"},
		{"-install-crds=false -leader-elect", "-install-crds=false -leader-elect=true"},
		{"--cluster-name --install-crds", "--cluster-name --install-crds=true"},
		{"--other --install-crds -- --install-crds", "--other --install-crds=true -- --install-crds"},
	} {
		in := strings.Fields(c.in)
		if diff := cmp.Diff(strings.Fields(c.want), settings.Arguments(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.in, diff)
		}
		if strings.Join(in, " ") != c.in {
			t.Errorf("%s: the arguments were changed", c.in)
		}
	}
	loaded := load(t, settings.Sources{Args: strings.Fields("--cluster-name=blue --install-crds --disable-leader-election true --serve-beta false")})
	if s := loaded.Settings; !s.Process.InstallCRDs || s.Process.LeaderElection || s.Planning.ServeBeta {
		t.Errorf("got %+v", s)
	}
}

// Of a flag that is given twice the last counts, as with other flags.
func TestFlagTwice(t *testing.T) {
	loaded := load(t, settings.Sources{Args: strings.Fields("--cluster-name=blue --cluster-name=green")})
	if got := loaded.Settings.AWS.ClusterName; got != "green" {
		t.Errorf("got %q", got)
	}
}

// SET-169: every setting with its source; certificates and long values are shortened, also in errors.
func TestEffective(t *testing.T) {
	secret := strings.Repeat("c2VjcmV0", 100)
	loaded := load(t, settings.Sources{LookupEnv: environment(map[string]string{
		"CLUSTER_NAME": "blue", "CLUSTER_CA_BUNDLE": secret, "LOG_OUTPUT_PATHS": "/" + strings.Repeat("x", 1000),
	})})
	if got := at(t, loaded, "cluster-ca-bundle"); got.Text != secret[:12]+"…" || got.Source != settings.SourceEnv {
		t.Errorf("certificate: %+v", got)
	}
	if got := at(t, loaded, "log-output-paths").Text; len(got) > 210 {
		t.Errorf("%d bytes are shown", len(got))
	}
	if got := at(t, loaded, "metrics-port"); got != (settings.Value{Name: "metrics-port", Text: "8080", Source: settings.SourceDefault}) {
		t.Errorf("default: %+v", got)
	}
	_, err := settings.Load(settings.Sources{Args: []string{"--cluster-name=blue", "--metrics-port=" + strings.Repeat("9", 5000)}})
	if err == nil || len(err.Error()) > 500 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
	// SET-168: what was loaded is data of its own.
	list := loaded.Effective()
	list[0].Text = "x"
	if loaded.Effective()[0].Text == "x" {
		t.Error("the list is shared")
	}
}
