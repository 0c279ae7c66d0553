package convert

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

func exec(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What the two streams say, file by file. S0-040, S0-041: the call shapes of Karpenter's tool work. API-386, API-387,
// API-389, API-391, API-393, API-395, API-399: order, separators, what is kept and what is filled in, by flag.
func TestGoldens(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
	}{
		{"S0-040 provisioner", []string{"-f", "testdata/provisioner.yaml"}},
		{"S0-041 nodetemplate", []string{"-f", "testdata/nodetemplate.yaml"}},
		{"default-provisioner", []string{"-f", "testdata/default-provisioner.yaml"}},
		{"node-role", []string{"--filename", "testdata/nodetemplate.yaml", "--node-role=KarpenterNodeRole-demo"}},
		{"mixed", []string{"-f", "testdata/mixed.yaml"}},
		{"mixed-json", []string{"-f", "testdata/mixed.yaml", "-o", "json"}},
		{"mixed-workloads", []string{"-f", "testdata/mixed.yaml", "--workloads", "--ignore-defaults"}},
		{"to-v1beta1", []string{"-f", "testdata/provisioner.yaml", "-f", "testdata/nodetemplate.yaml", "--to", "v1beta1", "--reference-compat"}},
		{"settings", []string{"-f", "testdata/folder", "--settings", "testdata/settings.yaml", "--keep-instance-profile"}},
		{"recursive-names", []string{"-R", "-f", "testdata/folder", "--output", "name"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := exec(t, "", tc.args...)
			if code != exitConverted {
				t.Fatalf("status %d: %s", code, errs)
			}
			_, file, numbered := strings.Cut(tc.name, " ")
			if !numbered {
				file = tc.name
			}
			for suffix, got := range map[string]string{".stdout": out, ".stderr": errs} {
				golden := filepath.Join("testdata", "golden", file+suffix)
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(read(t, golden), got); diff != "" {
					t.Errorf("%s (-there +printed):\n%s", golden, diff)
				}
			}
		})
	}
}

// API-400: "-" is standard input; what is printed for it is what is printed for the file. Arguments without -f count too.
func TestStandardInput(t *testing.T) {
	_, want, _ := exec(t, "", "-f", "testdata/mixed.yaml")
	for _, args := range [][]string{{"-f", "-"}, {"-"}} {
		if code, got, errs := exec(t, read(t, "testdata/mixed.yaml"), args...); code != exitConverted || got != want {
			t.Errorf("%v: status %d, %s\n%s", args, code, errs, cmp.Diff(want, got))
		}
	}
	_, both, _ := exec(t, "", "-f", "testdata/provisioner.yaml", "testdata/nodetemplate.yaml", "-o", "name")
	if both != "nodepool.karpenter.sh/default\nec2nodeclass.karpenter.k8s.aws/default\n" {
		t.Errorf("two files: %s", both)
	}
}

// API-260, API-320, SET-135, SET-179: global settings among the inputs count as those of --settings do, which win over them.
// Keys that nobody knows are warned of, and refused with --strict (SET-164).
func TestSettingsAmongTheInputs(t *testing.T) {
	folder := []string{"-f", "testdata/folder", "--keep-instance-profile"}
	_, want, _ := exec(t, "", append(folder, "--settings", "testdata/settings.yaml")...)
	code, got, errs := exec(t, "", append(folder, "-f", "testdata/settings.yaml")...)
	if code != exitConverted || got != want || strings.Contains(errs, "W603") {
		t.Errorf("status %d, %s\n%s", code, errs, cmp.Diff(want, got))
	}
	if !strings.Contains(got, "maxPods: 110") || !strings.Contains(got, "ManagedBy: Helm") {
		t.Errorf("density and tags are lost:\n%s", got)
	}
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: karpenter-global-settings}\ndata: {aws.tag: a}\n"
	if _, got, _ := exec(t, other, append(folder, "-f", "-", "--settings", "testdata/settings.yaml")...); got != want {
		t.Errorf("--settings does not win:\n%s", cmp.Diff(want, got))
	}
	for _, tc := range []struct {
		in, want string
		args     []string
		code     int
	}{
		{pool + "---\n" + other, "WARN W701 ConfigMap/karpenter-global-settings data[aws.tag]: unknown settings key aws.tag ignored", nil, exitConverted},
		{pool + "---\n" + other, "--strict: the settings have unknown keys", []string{"--strict"}, exitInput},
		{pool + "---\n" + other + "---\n" + other, "ConfigMap karpenter-global-settings is given twice, first in -:5 (document 2)", nil, exitInput},
		{strings.Replace(pool+"---\n"+other, "aws.tag: a", "aws.tags: a", 1), "aws.tags: \"a\" is not a valid set of tags: write a JSON object", nil, exitInput},
		{strings.Replace(pool+"---\n"+other, "aws.tag: a", "aws.tags: {a: b}", 1), "values of data must be text", nil, exitInput},
	} {
		if code, _, errs := exec(t, tc.in, append(tc.args, "-f", "-")...); code != tc.code || !strings.Contains(errs, tc.want) {
			t.Errorf("status %d, want %d and %q:\n%s", code, tc.code, tc.want, errs)
		}
	}
}

// What is printed is input again, of which nothing changes and nothing is said.
func TestPrintedIsInput(t *testing.T) {
	for _, output := range []string{"yaml", "json"} {
		_, first, _ := exec(t, "", "testdata/provisioner.yaml", "testdata/nodetemplate.yaml", "--node-role", "node", "-o", output)
		code, second, errs := exec(t, first, "-", "--strict", "-o", output)
		if code != exitConverted || second != first || errs != "" {
			t.Errorf("%s: status %d, %s\n%s", output, code, errs, cmp.Diff(first, second))
		}
	}
}

const (
	pool     = "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {providerRef: {name: a}}\n"
	template = "---\napiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: b}\nspec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, launchTemplate: mine}\n"
)

const (
	v1Pool  = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {kubelet: {maxPods: 20}, requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}}}\n"
	v1Class = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: c}\nspec: {role: r, amiSelectorTerms: [{alias: al2@latest}], subnetSelectorTerms: [{id: subnet-1}], securityGroupSelectorTerms: [{id: sg-1}]}\n"
)

// What --strict and --force make of losses and errors; an unknown field is warned of, or refused.
func TestLosses(t *testing.T) {
	foreign := "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
	misspelt := strings.Replace(pool, "spec: {", "spec: {wait: 30s, ", 1)
	for _, tc := range []struct {
		name, stdin string
		args        []string
		code        int
		printed     string
		said        []string
	}{
		{"an object that can't be converted is left out", pool + template, nil, exitLost, "name: a", []string{"ERROR W201 AWSNodeTemplate/b spec.launchTemplate", "the others are printed"}},
		{"nothing is left", template, nil, exitLost, "", []string{"W201", "no object could be converted"}},
		{"force", pool + template, []string{"--force"}, exitConverted, "name: b", []string{"W201"}},
		{"strict refuses an error", pool + template, []string{"--strict"}, exitLost, "", []string{"W201", "would be lost (W201, W203)"}},
		{"an unknown field", misspelt, nil, exitConverted, "name: a", []string{"WARN W604 Provisioner/a spec.wait"}},
		{"strict refuses an unknown field", misspelt, []string{"--strict"}, exitInput, "", []string{`-:1 (document 1): Provisioner/a: unknown field "spec.wait"`}},
		{"strict moves a kubelet block", v1Pool + "---\n" + v1Class, []string{"--strict"}, exitConverted, "maxPods: 20", []string{"W606"}},
		{"strict refuses a kubelet block without its class", v1Pool, []string{"--strict"}, exitInput, "", []string{`NodePool/a: unknown field "spec.template.spec.kubelet"`}},
		{"strict refuses a kubelet block that its class has otherwise", v1Pool + "---\n" + strings.Replace(v1Class, "role: r", "role: r, kubelet: {maxPods: 30}", 1), []string{"--strict"},
			exitInput, "", []string{"W604 NodePool/a spec.template.spec.kubelet", "--strict: the input has fields that their kinds do not have"}},
		{"another kind", pool + foreign, nil, exitConverted, "name: a", []string{"WARN W603 Namespace/shop"}},
		{"strict refuses another kind", pool + foreign, []string{"--strict"}, exitLost, "", []string{"would be lost (W603)"}},
		{"strict takes what only behaves differently", strings.Replace(pool, "spec: {", "spec: {ttlSecondsUntilExpired: 60, ", 1), []string{"--strict"}, exitConverted, "expireAfter: 1m0s", []string{"WARN W504"}},
		{"a role that is open", strings.Replace(template, ", launchTemplate: mine", "", 1), []string{"--strict"}, exitLost, "", []string{"W203"}},
		{"API-383: an object of today that breaks a rule", strings.Replace(pool, "spec: {", "spec: {labels: {karpenter.k8s.aws/team: a}, ", 1) + "---\n{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: b}, spec: {weight: 0}}\n", nil, exitLost, "", []string{
			`ERROR W601 Provisioner/a spec.template.metadata.labels[karpenter.k8s.aws/team]: Forbidden: label key "karpenter.k8s.aws/team" is restricted`, "ERROR W601 NodePool/b spec.weight:", "ERROR W601 NodePool/b spec.template.spec.requirements:",
		}},
		{"a Machine", pool + "---\napiVersion: karpenter.sh/v1alpha5\nkind: Machine\nmetadata: {name: m}\nspec: {}\n", nil, exitConverted, "name: a", []string{"INFO W301 Machine/m"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := exec(t, tc.stdin, append([]string{"-f", "-"}, tc.args...)...)
			if code != tc.code || !strings.Contains(out, tc.printed) || (tc.printed == "") != (out == "") {
				t.Errorf("status %d, want %d, printed:\n%s%s", code, tc.code, out, errs)
			}
			for _, want := range tc.said {
				if !strings.Contains(errs, want) {
					t.Errorf("does not say %q:\n%s", want, errs)
				}
			}
		})
	}
}

// API-399: each flag makes a difference, and the one that its line of the help promises.
func TestFlags(t *testing.T) {
	in := strings.Replace(pool, "spec: {", "spec: {provider: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, instanceProfile: nodes}, ", 1)
	in = strings.Replace(in, ", providerRef: {name: a}", "", 1) +
		"---\n{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeSelector: {karpenter.sh/provisioner-name: a}}}\n"
	for _, tc := range []struct {
		flags []string
		// without and with are what only the one output has.
		without, with string
	}{
		{[]string{"--to", "v1beta1"}, "apiVersion: karpenter.sh/v1\n", "apiVersion: karpenter.sh/v1beta1\n"},
		{[]string{"--node-role", "mine"}, "role: $KARPENTER_NODE_ROLE", "role: mine"},
		{[]string{"--keep-instance-profile"}, "role: $KARPENTER_NODE_ROLE", "instanceProfile: nodes"},
		{[]string{"--ignore-defaults"}, "key: kubernetes.io/arch", "requirements: []"},
		{[]string{"--settings", "testdata/settings.yaml"}, "", "  tags:\n"},
		{[]string{"--workloads"}, "", "nodeSelector:\n    karpenter.sh/nodepool: a"},
		{[]string{"--reference-compat"}, "consolidateAfter: Never", "consolidateAfter: 0s"},
		{[]string{"--output", "name"}, "apiVersion:", "nodepool.karpenter.sh/a\n"},
		{[]string{"-o", "json"}, "kind: NodePool", `"kind": "NodePool"`},
	} {
		t.Run(tc.flags[0], func(t *testing.T) {
			_, plain, _ := exec(t, in, "-f", "-")
			code, flagged, errs := exec(t, in, append([]string{"-f", "-"}, tc.flags...)...)
			if code != exitConverted {
				t.Fatalf("status %d: %s", code, errs)
			}
			if !strings.Contains(plain, tc.without) || strings.Contains(plain, tc.with) {
				t.Errorf("without it:\n%s", plain)
			}
			if tc.without != "" && strings.Contains(flagged, tc.without) || !strings.Contains(flagged, tc.with) {
				t.Errorf("with it:\n%s", flagged)
			}
			if !strings.Contains(helpText, tc.flags[0]) {
				t.Error("the help does not have it")
			}
		})
	}
}

// API-388, API-390, API-392, API-400: bad input and usage are status 1, nothing is printed, and the message names the place.
// Text that breaks off names file and line, and all bad documents are told at once.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.yaml")
	settings := filepath.Join(dir, "settings.yaml")
	for name, text := range map[string]string{
		cut:      "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nspec:\n  requirements: [{key: a\n",
		settings: "kind: ConfigMap\ndata: {aws.enablePodENI: maybe}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, stdin string
		args        []string
		want        []string
	}{
		{"no input", "", nil, []string{"must specify -f", "--help"}},
		{"unknown flag", "", []string{"--verbose"}, []string{"--help"}},
		{"an empty path", "", []string{"-f", ""}, []string{"is empty"}},
		{"output", "", []string{"-f", "x", "-o", "jsonpath={.a}"}, []string{"not one of yaml, json, name"}},
		{"generation", "", []string{"-f", "x", "--to", "v2"}, []string{"not one of v1, v1beta1"}},
		{"strict and force", "", []string{"-f", "x", "--strict", "--force"}, []string{"exclude each other"}},
		{"role and profile", "", []string{"-f", "x", "--node-role", "a", "--keep-instance-profile"}, []string{"exclude each other"}},
		{"no such file", "", []string{"-f", "testdata/none.yaml"}, []string{"none.yaml"}},
		{"an address", "", []string{"-f", "https://example.com/a.yaml"}, []string{"URLs are not read"}},
		{"no such folder", "", []string{"-f", "testdata/empty"}, []string{"testdata/empty"}},
		{"standard input twice", pool, []string{"-f", "-", "-f", "-"}, []string{"named twice"}},
		{"nothing to convert", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n", []string{"-f", "-"}, []string{"W603", "no objects to convert"}},
		{"an empty stream", "", []string{"-f", "-"}, []string{"no objects to convert"}},
		{"truncated", pool + "---\nkind: [\n", []string{"-f", cut, "-f", "-"}, []string{cut + ":4 (document 1): ", "-:6 (document 2): "}},
		{"settings that are no ConfigMap", "", []string{"-f", "-", "--settings", "testdata/provisioner.yaml"}, []string{"testdata/provisioner.yaml: kind is \"Provisioner\""}},
		{"settings of the wrong type", "", []string{"-f", "-", "--settings", settings}, []string{`W706 (file): aws.enablePodENI: "maybe" is not a valid boolean: write "true" or "false"`}},
		{"no settings", "", []string{"-f", "-", "--settings", "testdata/none.yaml"}, []string{"none.yaml"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := exec(t, tc.stdin, tc.args...)
			if code != exitInput || out != "" {
				t.Errorf("status %d, printed %q", code, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(errs, want) {
					t.Errorf("does not say %q:\n%s", want, errs)
				}
			}
		})
	}
}

// A folder without manifests says so, and that -R looks deeper.
func TestFolders(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "deeper"), 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := exec(t, "", "-f", dir); code != exitInput || !strings.Contains(errs, "-R also searches its subfolders") {
		t.Errorf("status %d: %s", code, errs)
	}
	if err := os.WriteFile(filepath.Join(dir, "deeper", "a.json"), []byte(`{"apiVersion":"karpenter.sh/v1alpha5","kind":"Provisioner","metadata":{"name":"a"},"spec":{"providerRef":{"name":"a"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := exec(t, "", "-R", dir, "-o", "name"); code != exitConverted || out != "nodepool.karpenter.sh/a\n" {
		t.Errorf("status %d: %s%s", code, out, errs)
	}
}

// failing is a writer that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// S0-039: the help has the line that installs the command.
func TestHelpAndFullDisk(t *testing.T) {
	if code, out, _ := exec(t, "", "--help"); code != exitConverted || out != helpText || !strings.Contains(out, "go install github.com/drawknife/drawknife/examples/convert@latest") {
		t.Errorf("status %d: %s", code, out)
	}
	var errs bytes.Buffer
	for _, args := range [][]string{{"--help"}, {"testdata/provisioner.yaml"}, {"testdata/provisioner.yaml", "-o", "name"}} {
		if code := run(args, nil, failing{}, &errs); code != exitOutput {
			t.Errorf("%v: status %d", args, code)
		}
	}
}

// Input without anything to convert is bad input, whatever it is empty of, unless that is allowed.
func TestEmptyInput(t *testing.T) {
	for _, input := range []string{"", "# a comment\n", "---\n---\n"} {
		if code, out, errs := exec(t, input, "-f", "-"); code != exitInput || out != "" || !strings.Contains(errs, "no objects to convert") {
			t.Errorf("%q: status %d: %s%s", input, code, out, errs)
		}
		if code, out, errs := exec(t, input, "-f", "-", "--allow-empty"); code != exitConverted || out != "" || errs != "" {
			t.Errorf("%q, allowed: status %d: %s%s", input, code, out, errs)
		}
	}
}

// Every command says what it was built from, and which flag a mistyped one may stand for.
func TestVersionAndTypos(t *testing.T) {
	code, stdout, stderr := exec(t, "", "--version")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "drawknife convert ") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("--version: %d, %q, %q", code, stdout, stderr)
	}
	code, _, stderr = exec(t, "", "--strcit")
	if code != exitInput || !strings.Contains(stderr, "did you mean --strict?") {
		t.Errorf("a mistyped flag: %d, %q", code, stderr)
	}
}
