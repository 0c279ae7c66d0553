package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/simulate"
)

var update = flag.Bool("update", false, "write the golden files")

// answer is what the program gave back.
type answer struct {
	status         int
	stdout, stderr string
}

func drawknife(args ...string) answer {
	var out, messages bytes.Buffer
	streams := commands.Streams{In: strings.NewReader(""), Out: &out, Err: &messages}
	return answer{run(context.Background(), args, "drawknife", streams, simulate.Options{}), out.String(), messages.String()}
}

// The help of each command is what its golden file has.
func TestHelp(t *testing.T) {
	lines := [][]string{{"--help"}}
	for _, g := range groups(simulate.Options{}) {
		for _, c := range withBelow(g.commands) {
			lines = append(lines, append(strings.Fields(c.Name), "--help"))
		}
	}
	for _, args := range lines {
		got := drawknife(args...)
		if got.status != 0 || got.stderr != "" {
			t.Fatalf("%v: status %d: %s", args, got.status, got.stderr)
		}
		name := filepath.Join("testdata", "help", strings.TrimPrefix(strings.Join(args, ""), "--")+".txt")
		if *update {
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(got.stdout), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.stdout); diff != "" {
			t.Errorf("%v (-update writes it):\n%s", args, diff)
		}
	}
}

// The status of a command is the status of the program, and cobra adds nothing to what the command says.
func TestStatus(t *testing.T) {
	for _, test := range []struct {
		args   string
		status int
		stderr string
	}{
		{"plan nowhere.yaml", 1, "drawknife plan: "},
		{"plan --output xml", 1, `--output "xml": not one of text, wide, json, yaml, markdown, csv`},
		{"plan --nothing", 1, "drawknife: unknown flag: --nothing"},
		{"plna", 1, "drawknife: unknown command \"plna\""},
		{"convert", 1, "drawknife convert: must specify -f"},
		{"convert nowhere.yaml", 1, "drawknife convert: "},
		{"convert -f ../../commands/convert/testdata/provisioner.yaml --to v2", 1, `--to "v2": not one of v1, v1beta1`},
		{"iam", 1, "drawknife iam: "},
		{"iam extra", 1, "arguments are not accepted"},
		{"template nowhere.yaml", 1, "drawknife template: "},
		{"template -", 1, "the inputs have no EC2NodeClass"},
		{"settings", 1, "drawknife settings: no input"},
		{"settings --set metrics-port=0", 2, "drawknife settings: error: W7"},
		{"verify-migration", 1, "drawknife verify-migration: --cluster-name is missing"},
		{"diff", 1, "drawknife diff: needs the file of the new NodePools"},
		{"sweep run", 1, "drawknife sweep run: needs one argument"},
		{"sweep run nowhere.yaml", 1, "nowhere.yaml: no such file"},
	} {
		got := drawknife(strings.Fields(test.args)...)
		if got.status != test.status || !strings.Contains(got.stderr, test.stderr) || got.stdout != "" {
			t.Errorf("%s: %+v", test.args, got)
		}
	}
}

// Flags reach the command, long and short, and between the inputs.
func TestFlags(t *testing.T) {
	const cluster = "../../commands/simulate/testdata/commands/cluster.json"
	for _, args := range []string{"-o json " + cluster, cluster + " --output=json", "--output json -v " + cluster} {
		if got := drawknife(append([]string{"plan"}, strings.Fields(args)...)...); got.status != 0 || !strings.HasPrefix(got.stdout, "{") {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// The commands that set up and move a cluster answer as the programs of their own do.
func TestSettingUp(t *testing.T) {
	const class = "../launchtemplate/classes/al2023.yaml"
	for _, c := range []struct{ args, want string }{
		{"convert -f ../../commands/convert/testdata/provisioner.yaml", "kind: NodePool"},
		{"convert -R ../../commands/convert/testdata/folder -o name --keep-instance-profile", "nodepool.karpenter.sh/"},
		{"template " + class, "LaunchTemplateData:"},
		{"template -o userdata " + class, "MIME-Version"},
		{"iam --cluster-name demo --region eu-central-1 --account-id 111122223333 --node-roles demo-nodes -o terraform", "resource "},
		{"settings --set cluster-name=blue", "cluster-name  blue"},
	} {
		if got := drawknife(strings.Fields(c.args)...); got.status != 0 || !strings.Contains(got.stdout, c.want) {
			t.Errorf("%s: %+v", c.args, got)
		}
	}
}

// Shells complete the names of commands and flags.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := drawknife("completion", shell); got.status != 0 || len(got.stdout) < 1000 {
			t.Errorf("%s: %+v", shell, got)
		}
	}
	if got := drawknife("__complete", "consolidate", "--disruption-min"); !strings.Contains(got.stdout, "--disruption-min-saving-share") {
		t.Errorf("%+v", got)
	}
}

func TestVersion(t *testing.T) {
	if got := drawknife("version"); got.status != 0 || !strings.HasPrefix(got.stdout, "drawknife ") {
		t.Errorf("%+v", got)
	}
}

// As kubectl's plugin the program has the name that its user types.
func TestProgramName(t *testing.T) {
	for path, want := range map[string]string{"/usr/bin/kubectl-drawknife": "kubectl drawknife", `kubectl-drawknife.exe`: "kubectl drawknife", "./drawknife": "drawknife"} {
		if got := programName(path); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}
