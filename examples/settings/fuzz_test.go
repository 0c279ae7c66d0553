package settings_test

import (
	"os"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/examples/settings"
)

// combined checks what holds of any input: no panic, and settings that pass their own validation, or an error.
func combined(t *testing.T, layers ...settings.Layer) {
	t.Helper()
	loaded, err := settings.Combine(layers...)
	if err != nil {
		if loaded != nil || err.Error() == "" {
			t.Fatalf("%v with %v", loaded, err)
		}
		return
	}
	if err := loaded.Settings.Validate(); err != nil {
		t.Fatalf("accepted, but %v", err)
	}
}

func FuzzParseFile(f *testing.F) {
	values, err := os.ReadFile("testdata/values-0.26.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(values)
	f.Add([]byte("kind: ConfigMap\nmetadata: {name: config-logging}\ndata: {zap-logger-config: '{\"level\":\"info\"}'}\n"))
	f.Add([]byte("kind: ConfigMap\ndata: {aws.tags: '{\"a\":\"b\"}', aws.tags.x: y}\n"))
	f.Fuzz(func(t *testing.T, data []byte) { combined(t, settings.ParseFile(data)) })
}

func FuzzParseEnv(f *testing.F) {
	f.Add("CLUSTER_NAME", "blue", "BATCH_MAX_DURATION", "10s")
	f.Add("FEATURE_GATES", "Drift=false", "LEADER_ELECT", "true")
	f.Fuzz(func(t *testing.T, name, value, other, text string) {
		combined(t, settings.ParseEnv(environment(map[string]string{name: value, other: text})))
	})
}

func FuzzParseLegacyConfigMap(f *testing.F) {
	f.Add("aws.tags", `{"a":"b"}`, "aws.tags.a", "b")
	f.Add("batchMaxDuration", "10s", "featureGates.driftEnabled", "true")
	f.Fuzz(func(t *testing.T, key, value, other, text string) {
		combined(t, settings.ParseLegacyConfigMap(map[string]string{key: value, other: text}))
	})
}

func FuzzParseLoggingConfigMap(f *testing.F) {
	f.Add(`{"level":"info","outputPaths":["stdout"]}`, "debug")
	f.Fuzz(func(t *testing.T, config, level string) {
		combined(t, settings.ParseLoggingConfigMap(map[string]string{"zap-logger-config": config, "loglevel.controller": level}))
	})
}

func FuzzParseFeatureGates(f *testing.F) {
	f.Add("Drift=false,NodeRepair=true")
	f.Fuzz(func(t *testing.T, text string) {
		gates, err := settings.ParseFeatureGates(text)
		if err != nil {
			return
		}
		if again, err := settings.ParseFeatureGates(gates.String()); err != nil || again != gates {
			t.Fatalf("%v is written as %q, which is read as %v, %v", gates, gates.String(), again, err)
		}
	})
}

func FuzzLoad(f *testing.F) {
	f.Add("--cluster-name blue --install-crds --log-level=debug")
	f.Add("--settings-file -- --x=")
	f.Fuzz(func(t *testing.T, line string) {
		loaded, err := settings.Load(settings.Sources{Args: strings.Fields(line)})
		if err == nil && loaded.Settings.Validate() != nil {
			t.Fatal("accepted, but invalid")
		}
	})
}
