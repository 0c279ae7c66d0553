package settings

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/commands"
)

// try runs the command with a file of each of these texts.
func try(t *testing.T, files []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var names []string
	for i, text := range files {
		name := filepath.Join(t.TempDir(), string(rune('a'+i))+".yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	run := Command().Begin()
	if err := run.Flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code = run.Do(t.Context(), append(names, run.Flags.Args()...), commands.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return code, out.String(), errs.String()
}

const old = `settings: {aws: {clusterName: blue, interruptionQueueName: q}, batchMaxDuration: 20s, typo: 1}
replicas: 2
`

// Chart values of an older generation: each setting with its value and where it stands, and a warning for each name that is not today's.
func TestChartValues(t *testing.T) {
	code, stdout, stderr := try(t, []string{old})
	for _, want := range []string{"cluster-name", "blue", "settings.aws.clusterName", "20s", "not its behaviour: replicas"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if code != exitRead || strings.Contains(stdout, "metrics-port") || !strings.Contains(stderr, "warning: W701 (file): unknown settings key settings.typo") {
		t.Errorf("%d: %s\n%s", code, stderr, stdout)
	}
	if _, all, _ := try(t, []string{old}, "--all"); !strings.Contains(all, "metrics-port") {
		t.Errorf("--all lacks a default:\n%s", all)
	}
}

// The last file wins, and --set wins over all.
func TestPrecedence(t *testing.T) {
	files := []string{old, "settings: {clusterName: green, batchMaxDuration: 30s}\n"}
	code, stdout, stderr := try(t, files, "-o", "json", "--set", "batch-max-duration=40s")
	var d document
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != exitRead {
		t.Fatal(err, code, stderr)
	}
	got := map[string]string{}
	for _, v := range d.Settings {
		got[v.Name] = v.Value
	}
	if got["cluster-name"] != "green" || got["batch-max-duration"] != "40s" || got["interruption-queue"] != "q" || d.Kind != "Settings" || len(d.Warnings) == 0 {
		t.Errorf("%+v", d)
	}
	if _, asYAML, _ := try(t, files, "-o", "yaml"); !strings.HasPrefix(asYAML, "apiVersion: settings.drawknife.dev/v1\n") {
		t.Errorf("%s", asYAML)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		says  string
		files []string
		args  []string
		code  int
	}{
		{"no input", nil, nil, exitInput},
		{`--output "csv"`, []string{old}, []string{"-o", "csv"}, exitInput},
		{`there is no setting "typo"`, nil, []string{"--set", "typo=1"}, exitInput},
		{"no such file", nil, []string{"nowhere.yaml"}, exitInput},
		{"W705", []string{"replicas: 2\n"}, nil, exitInvalid},
		{"W706", []string{"settings: {clusterName: x, batchMaxDuration: soon}\n"}, nil, exitInvalid},
	} {
		code, stdout, stderr := try(t, c.files, c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.says) {
			t.Errorf("%v %v: %d, %q, %s", c.files, c.args, code, stdout, stderr)
		}
	}
}
