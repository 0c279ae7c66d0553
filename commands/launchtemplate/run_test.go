package launchtemplate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

func exec(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// What is printed as JSON is what CreateLaunchTemplate takes: the SDK's own type has every member of it.
func TestJSONIsTheInputOfTheAPI(t *testing.T) {
	for _, name := range []string{"al2", "al2023", "bottlerocket", "windows2022", "custom"} {
		code, out, errs := exec(t, "", "-o", "json", "../../examples/launchtemplate/classes/"+name+".yaml")
		if code != exitPrinted {
			t.Fatalf("%s: %s", name, errs)
		}
		decoder := json.NewDecoder(strings.NewReader(out))
		decoder.DisallowUnknownFields()
		var input ec2.CreateLaunchTemplateInput
		if err := decoder.Decode(&input); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(*input.LaunchTemplateName, "karpenter.k8s.aws/") || input.LaunchTemplateData.ImageId == nil {
			t.Errorf("%s: %+v", name, input)
		}
	}
}

// S0-028, S0-015, S1-062: one class of each family.
func TestFamilies(t *testing.T) {
	for file, want := range map[string]string{
		"al2":          "--max-pods=50 --system-reserved=\"cpu=100m,memory=100Mi\"' \\\n--local-disks raid0\n",
		"al2023":       "    config:\n      registryPullQPS: 20\n",
		"bottlerocket": "commands = [['apiclient', 'ephemeral-storage', 'init']",
		"windows2019":  "Start-EKSBootstrap.ps1",
		"windows2022":  "Write-Host \"hello\"\n",
		"windows2025":  "-ServiceCIDR '172.20.0.0/16'\n</powershell>",
		"ubuntu":       "/etc/eks/bootstrap.sh 'demo'",
		"custom":       "#!/bin/bash\n/opt/join-cluster",
	} {
		code, out, errs := exec(t, "", "-o", "userdata", "../../examples/launchtemplate/classes/"+file+".yaml")
		if code != exitPrinted || !strings.Contains(out, want) || errs != "" {
			t.Errorf("%s: status %d, %s\n%s", file, code, errs, out)
		}
	}
}

func TestOutputs(t *testing.T) {
	both := []string{"../../examples/launchtemplate/classes/al2023.yaml", "../../examples/launchtemplate/classes/pool.yaml"}
	for _, tc := range []struct {
		name           string
		args           []string
		stdin          string
		stdout, stderr []string
	}{
		{"help", []string{"--help"}, "", []string{"Exit status:", "Examples:"}, nil},
		{"several templates as YAML", both, "", []string{"# for c5.large m5.large\n", "\n---\n# for c5.2xlarge c5.xlarge m5.2xlarge m5.xlarge\n", "Value: blue"}, []string{"give --ami ID"}},
		{"several templates as JSON", append([]string{"-o", "json"}, both...), "", []string{"[\n  {"}, nil},
		{"many types", []string{"../../examples/launchtemplate/classes/custom.yaml", "../../examples/launchtemplate/classes/pool.yaml", "--instance-types", "m5.large,m5.xlarge,c5.large,c5.xlarge,r5.large,r5.xlarge,t3.large"}, "", []string{"# for c5.large c5.xlarge m5.large m5.xlarge r5.large and 2 others\n"}, []string{"note: NodePool blue refers to the node class al2023, not to custom"}},
		{"standard input", []string{"-"}, `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"},` + asJSONFile(t, "../../examples/launchtemplate/classes/custom.yaml") + `]}`,
			[]string{"ImageId: ami-0123456789abcdef0"}, []string{"1 objects of other kinds"}},
		{"flags after the input", []string{"../../examples/launchtemplate/classes/custom.yaml", "--instance-profile=mine", "--security-groups", "sg-1,sg-2", "--ami", "ami-1"}, "", []string{"Name: mine", "- sg-1\n    - sg-2", "ImageId: ami-1"}, nil},
		{"reserved", []string{"../../examples/launchtemplate/classes/al2023.yaml", "--capacity-type", "reserved", "--reservation", "cr-1"}, "", []string{"CapacityReservationId: cr-1", "capacity-reservations-only"}, nil},
		{"EFA and enclaves", []string{"../../examples/launchtemplate/classes/al2023.yaml", "--instance-types", "p4d.24xlarge", "--efa", "--enclaves", "--placement-group", "pg-1"}, "", []string{"InterfaceType: efa", "NetworkCardIndex: 3", "EnclaveOptions:\n    Enabled: true", "GroupId: pg-1"}, nil},
		{"IPv6", []string{"../../examples/launchtemplate/classes/al2023.yaml", "--service-cidr", "fd00:10::/108"}, "", []string{"PrimaryIpv6: true"}, nil},
		{"warnings", []string{"-o", "userdata", "-"}, classWith("amiSelectorTerms: [{alias: bottlerocket@latest}]", "userData: 'x = 1'"), []string{"[settings]"}, []string{`warning: userData: the top-level table "x" is left out`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := exec(t, tc.stdin, tc.args...)
			if code != exitPrinted {
				t.Errorf("status %d", code)
			}
			for _, want := range tc.stdout {
				if !strings.Contains(out, want) {
					t.Errorf("prints no %q:\n%s", want, out)
				}
			}
			for _, want := range tc.stderr {
				if !strings.Contains(errs, want) {
					t.Errorf("does not say %q:\n%s", want, errs)
				}
			}
		})
	}
}

func asJSONFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all objects
	if err := all.add(text, false); err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(all.classes[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(object)
}

// classWith is a class of AL2 with these lines in its spec.
func classWith(lines ...string) string {
	return "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: std}\nspec:\n" +
		"  subnetSelectorTerms: [{id: subnet-1}]\n  securityGroupSelectorTerms: [{id: sg-1}]\n  role: node\n  " + strings.Join(lines, "\n  ") + "\n"
}

// Bad input is status 1, a class that no template can be made of is 2; both name the place.
func TestRefusals(t *testing.T) {
	const al2 = "amiSelectorTerms: [{alias: al2@latest}]"
	for _, tc := range []struct {
		name  string
		args  []string
		stdin string
		code  int
		want  string
	}{
		{"no input", nil, "", exitInput, "no input"},
		{"unknown flag", []string{"--verbose", "x"}, "", exitInput, "--help"},
		{"output", []string{"-o", "toml", "x"}, "", exitInput, "not one of yaml, json, userdata"},
		{"capacity type", []string{"--capacity-type", "free", "x"}, "", exitInput, "not one of on-demand, spot, reserved"},
		{"IP family", []string{"--ip-family", "4", "x"}, "", exitInput, "not one of IPv4, IPv6"},
		{"a list with a hole", []string{"--instance-types", "a,,b", "x"}, "", exitInput, "an entry is empty"},
		{"another list with a hole", []string{"--security-groups", ",", "x"}, "", exitInput, "an entry is empty"},
		{"a reserved launch without reservation", []string{"--capacity-type", "reserved", "x"}, "", exitInput, "go together"},
		{"no such file", []string{"testdata/none.yaml"}, "", exitInput, "none.yaml"},
		{"no class", []string{"../../examples/launchtemplate/classes/pool.yaml"}, "", exitInput, "the inputs have no EC2NodeClass"},
		{"two classes", []string{"../../examples/launchtemplate/classes/al2.yaml", "../../examples/launchtemplate/classes/al2023.yaml"}, "", exitInput, "al2, al2023: choose one with --class"},
		{"another name", []string{"../../examples/launchtemplate/classes/al2.yaml", "--class", "x"}, "", exitInput, "the inputs have only al2"},
		{"no pool of that name", []string{"../../examples/launchtemplate/classes/al2.yaml", "--pool", "x"}, "", exitInput, "the inputs have no NodePool"},
		{"not YAML", []string{"-"}, "a: b: c", exitInput, "-, document 1"},
		{"a list in a list", []string{"-"}, "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: []}]\n", exitInput, "items[0]: a List in a List"},
		{"a misspelt field", []string{"-"}, classWith(al2, "userdata: x"), exitInput, "userdata"},
		{"an older generation", []string{"-"}, "apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\n", exitInput, "only v1 is read"},
		{"an invalid class", []string{"-"}, classWith("amiSelectorTerms: [{alias: al2}]"), exitInput, "spec.amiSelectorTerms[0].alias"},
		{"an invalid pool", []string{"-"}, "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec: {weight: 200}\n", exitInput, "spec.weight"},
		{"an unknown type", []string{"../../examples/launchtemplate/classes/al2.yaml", "--instance-types", "m5.tiny"}, "", exitInput, "m5.tiny does not exist"},
		{"user data of several templates", []string{"-o", "userdata", "../../examples/launchtemplate/classes/al2023.yaml", "../../examples/launchtemplate/classes/pool.yaml"}, "", exitInput, "c5.large for 29 pods (2 instance types)"},
		{"malformed user data", []string{"-"}, classWith(al2, "userData: |", "  MIME-Version: 1.0", "  Content-Type: text/plain"), exitImpossible, "line 2"},
		{"long user data", []string{"-"}, classWith(al2, "userData: "+strings.Repeat("x", 17000)), exitImpossible, "at most 16384"},
		{"an endpoint that is none", []string{"../../examples/launchtemplate/classes/al2.yaml", "--endpoint", "x"}, "", exitImpossible, "endpoint"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out, errs := exec(t, tc.stdin, tc.args...)
			if code != tc.code || !strings.Contains(errs, tc.want) || out != "" {
				t.Errorf("status %d, want %d and %q:\n%s%s", code, tc.code, tc.want, errs, out)
			}
		})
	}
	long := filepath.Join(t.TempDir(), "long.yaml")
	if err := os.WriteFile(long, bytes.Repeat([]byte("#"), maxInput+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := exec(t, "", long); code != exitInput || !strings.Contains(errs, "more than") {
		t.Errorf("status %d: %s", code, errs)
	}
}

// full is a writer without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestFullDisk(t *testing.T) {
	var errs bytes.Buffer
	for _, args := range [][]string{{"--help"}, {"../../examples/launchtemplate/classes/al2023.yaml"}, {"../../examples/launchtemplate/classes/al2023.yaml", "-o", "userdata"}} {
		if code := run(args, nil, full{}, &errs); code != exitOutput {
			t.Errorf("%v: status %d", args, code)
		}
	}
	if code := run([]string{"-"}, strings.NewReader("# nothing\n"), io.Discard, &errs); code != exitInput || !strings.Contains(errs.String(), "kubectl get ec2nodeclass -o yaml") {
		t.Errorf("without a class: status %d: %s", code, &errs)
	}
}

// Every command says what it was built from, and which flag a mistyped one may stand for.
func TestVersionAndTypos(t *testing.T) {
	code, stdout, stderr := exec(t, "", "--version")
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "drawknife launchtemplate ") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("--version: %d, %q, %q", code, stdout, stderr)
	}
	code, _, stderr = exec(t, "", "--endpiont=x")
	if code != exitInput || !strings.Contains(stderr, "did you mean --endpoint?") {
		t.Errorf("a mistyped flag: %d, %q", code, stderr)
	}
}
