// Package ci_test runs the GitHub Action, the GitLab template and the page on the gate, as far as they go without the services.
package ci_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/simulate"
)

// asProgram makes the test's own program drawknife.
const asProgram = "DRAWKNIFE_CI_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(drawknife(os.Args[1:], commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	flag.Parse()
	os.Exit(m.Run())
}

// drawknife runs a command that plans, with flags between the arguments as in the real program.
func drawknife(args []string, streams commands.Streams) int {
	for _, c := range simulate.Commands(simulate.Options{}) {
		if len(args) == 0 || c.Name != args[0] {
			continue
		}
		run := c.Begin()
		run.Flags.SetOutput(streams.Err)
		var rest []string
		for left := args[1:]; ; {
			if run.Flags.Parse(left) != nil {
				return 1
			}
			used := len(left) - run.Flags.NArg()
			if run.Flags.NArg() == 0 {
				break
			}
			if used > 0 && left[used-1] == "--" {
				rest = append(rest, run.Flags.Args()...)
				break
			}
			rest, left = append(rest, run.Flags.Arg(0)), run.Flags.Args()[1:]
		}
		return run.Do(context.Background(), rest, streams)
	}
	fmt.Fprintf(streams.Err, "no command %q\n", args)
	return 1
}

const gateData = "../../commands/simulate/testdata/gate"

// place is a computer of a CI system: a repository with a main branch and a change, and a folder of programs that come first on the path.
type place struct {
	t                        *testing.T
	repository, bin, scratch string
	base                     string
	environment              []string
}

// newPlace makes a repository whose first commit has the manifests of the main branch, and whose second commit those of the change.
func newPlace(t *testing.T) *place {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for bash")
	}
	for _, tool := range []string{"bash", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s", tool)
		}
	}
	scratch, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, scratch: scratch, repository: filepath.Join(scratch, "repository"), bin: filepath.Join(scratch, "bin")}
	for _, dir := range []string{p.repository, p.bin, filepath.Join(scratch, "home"), filepath.Join(scratch, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.environment = []string{"PATH=" + p.bin + ":" + os.Getenv("PATH"), "HOME=" + scratch + "/home", "TMPDIR=" + scratch + "/tmp", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The stub of go builds drawknife: a script that runs this test's program.
	p.write("bin/go", "#!/bin/sh\nout=\nwhile [ $# -gt 0 ]; do\n  [ \"$1\" = -o ] && out=$2\n  [ \"$1\" = -C ] && [ -d \"$2\" ] || [ \"$1\" != -C ] || exit 9\n  shift\ndone\n"+
		"mkdir -p \"$(dirname \"$out\")\"\nprintf '#!/bin/sh\\n"+asProgram+"=1 exec %s \"$@\"\\n' '"+self+"' >\"$out\"\nchmod +x \"$out\"\n", 0o755)
	p.git("init", "-q", "-b", "main")
	p.commit("main.yaml", "budget.yaml")
	p.base = strings.TrimSpace(p.git("rev-parse", "HEAD"))
	p.git("checkout", "-q", "-b", "change")
	p.commit("pr.yaml", "budget.yaml")
	return p
}

func (p *place) write(name, text string, mode os.FileMode) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.scratch, name), []byte(text), mode); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.scratch, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// commit commits a file of the test data as deploy/app.yaml, and the policy.
func (p *place) commit(manifest, policy string) {
	p.t.Helper()
	for from, to := range map[string]string{manifest: "deploy/app.yaml", policy: "budget.yaml"} {
		text, err := os.ReadFile(filepath.Join(gateData, from))
		if err != nil {
			p.t.Fatal(err)
		}
		to = filepath.Join(p.repository, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			p.t.Fatal(err)
		}
	}
	p.git("add", "-A")
	p.git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", manifest)
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	command := exec.Command("git", args...)
	command.Dir, command.Env = p.repository, p.environment
	out, err := command.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// bash runs a script in the repository as CI systems do, and returns its exit status and what it printed.
func (p *place) bash(script string, environment ...string) (int, string) {
	p.t.Helper()
	command := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
	command.Dir, command.Env = p.repository, append(slices.Clone(p.environment), environment...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	if command.ProcessState == nil {
		p.t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), out.String()
}

// action is what is read of action.yml.
type action struct {
	Inputs map[string]struct {
		Description string
		Required    bool
		Default     string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []struct {
			Name, ID, If, Shell, Run, Uses string
			Env, With                      map[string]any
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{\s*(.*?)\s*\}\}`)

// The action judges a pull request, comments on it, updates the comment, and fails with the status of the gate.
func TestGitHubAction(t *testing.T) {
	var a action
	text, err := os.ReadFile("github/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || !a.Inputs["policy"].Required {
		t.Errorf("%+v", a)
	}
	p := newPlace(t)
	folder, err := filepath.Abs("github")
	if err != nil {
		t.Fatal(err)
	}
	// The stub of gh records its arguments and the body, and lists the comments that a file has.
	p.write("bin/gh", "#!/bin/bash\nprintf '%s\\n' \"$*\" >>"+p.scratch+"/calls\nfor a in \"$@\"; do [[ $a == body=@* ]] && cp \"${a#body=@}\" "+p.scratch+"/posted; done\n"+
		"[[ $* == *--paginate* ]] && cat "+p.scratch+"/comments\nexit 0\n", 0o755)
	p.write("comments", "1\tsomething else\n", 0o644)
	run := func(inputs map[string]string) (status int, printed string) {
		p.write("output", "", 0o644)
		p.write("summary", "", 0o644)
		outputs := map[string]string{}
		values := func(name string) string {
			if value, ok := map[string]string{
				"github.action_path": folder, "github.repository": "o/r", "github.event.pull_request.number": "7", "github.token": "t",
				"github.event.pull_request.base.sha || github.event.before": p.base,
				"steps.gate.outputs.status":                                 outputs["status"], "steps.gate.outputs.folder": outputs["folder"],
			}[name]; ok {
				return value
			}
			input, found := strings.CutPrefix(name, "inputs.")
			declared, known := a.Inputs[input]
			if !found || !known {
				t.Fatalf("the action uses %q, which nobody gives", name)
			}
			if value, ok := inputs[input]; ok {
				return value
			}
			return declared.Default
		}
		fill := func(text string) string {
			for range 2 { // defaults are expressions themselves
				text = expression.ReplaceAllStringFunc(text, func(e string) string { return values(expression.FindStringSubmatch(e)[1]) })
			}
			return text
		}
		for _, step := range a.Runs.Steps {
			if step.Uses != "" {
				if !regexp.MustCompile(`^[\w-]+/[\w/-]+@v\d+$`).MatchString(step.Uses) {
					t.Errorf("%s uses %s", step.Name, step.Uses)
				}
				continue
			}
			if step.Shell != "bash" || strings.Contains(step.Run, "${{") {
				t.Errorf("%s: expressions belong in env, where they cannot be read as commands", step.Name)
			}
			if strings.HasPrefix(step.If, "inputs.comment == 'true'") && inputs["comment"] == "false" {
				continue
			}
			environment := []string{"RUNNER_TEMP=" + p.scratch + "/tmp", "GITHUB_OUTPUT=" + p.scratch + "/output", "GITHUB_STEP_SUMMARY=" + p.scratch + "/summary"}
			for name, value := range step.Env {
				environment = append(environment, name+"="+fill(fmt.Sprint(value)))
			}
			status, text := p.bash(step.Run, environment...)
			printed += text
			for line := range strings.Lines(p.read("output")) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
				outputs[name] = value
			}
			if status != 0 {
				return status, printed
			}
		}
		return 0, printed
	}

	status, printed := run(map[string]string{"policy": "budget.yaml", "path": "deploy"})
	if status != 16 {
		t.Fatalf("status %d:\n%s", status, printed)
	}
	posted := p.read("posted")
	for _, want := range []string{"<!-- drawknife gate: budget.yaml -->\n**The change breaks 2 of 6 rules of policy shop (budget.yaml), with 1 warning.**", "| addedCost.maxPerMonth |"} {
		if !strings.Contains(posted, want) {
			t.Errorf("no %q in the comment\n%s", want, posted)
		}
	}
	if !strings.Contains(p.read("summary"), "| addedCost.maxPerMonth |") || !strings.Contains(p.read("calls"), "--method POST repos/o/r/issues/7/comments") {
		t.Errorf("%s", p.read("calls"))
	}
	if sarif := p.read("tmp/drawknife/gate/gate.sarif"); !strings.Contains(sarif, `"uri": "deploy/app.yaml"`) {
		t.Errorf("no result is in the repository's file: %s", sarif)
	}

	p.write("comments", "1\tsomething else\n42\t<!-- drawknife gate: budget.yaml -->\n", 0o644)
	if status, printed = run(map[string]string{"policy": "budget.yaml", "render": "cat deploy/app.yaml"}); status != 16 || !strings.Contains(p.read("calls"), "--method PATCH repos/o/r/issues/comments/42") {
		t.Errorf("status %d: %s\n%s", status, printed, p.read("calls"))
	}
	if status, printed = run(map[string]string{"policy": "nowhere.yaml", "path": "deploy"}); status != 1 || !strings.Contains(p.read("posted"), "**The change could not be judged** (exit status 1).") || !strings.Contains(p.read("posted"), "nowhere.yaml") {
		t.Errorf("a policy that is missing: status %d: %s\n%s", status, printed, p.read("posted"))
	}
	p.write("calls", "", 0o644)
	if status, printed = run(map[string]string{"policy": "budget.yaml", "path": "deploy", "base": "HEAD", "comment": "false"}); status != 11 || p.read("calls") != "" {
		t.Errorf("a change of nothing still has a pod without a place: status %d: %s", status, printed)
	}
	if status, printed = run(map[string]string{"policy": "budget.yaml", "render": "exit 3"}); status != 1 || !strings.Contains(printed, "gate: the base commit cannot be rendered: exit 3") {
		t.Errorf("a command that fails: status %d: %s", status, printed)
	}
	if left := p.git("worktree", "list"); strings.Count(left, "\n") != 1 {
		t.Errorf("worktrees are left: %s", left)
	}
}

// The template judges a merge request, comments on it if it has a token, and leaves its reports as artifacts.
func TestGitLabTemplate(t *testing.T) {
	text, err := os.ReadFile("gitlab/drawknife.gitlab-ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var jobs map[string]struct {
		Script    []string
		Variables map[string]string
		Artifacts struct {
			When    string
			Paths   []string
			Reports map[string]string
		}
	}
	if err := yaml.Unmarshal(text, &jobs); err != nil {
		t.Fatal(err)
	}
	job := jobs["drawknife-gate"]
	if len(job.Script) != 1 || job.Artifacts.When != "always" {
		t.Fatalf("%+v", job)
	}
	p := newPlace(t)
	// The repository of drawknife: only what the job runs of it.
	source := filepath.Join(p.scratch, "drawknife.git")
	for name, mode := range map[string]os.FileMode{"examples/ci/gate.sh": 0o755, "examples/drawknife/go.mod": 0o644} {
		text, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(source, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(source, name), text, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "a"}} {
		p.git(append([]string{"-C", source}, args...)...)
	}
	p.write("bin/curl", "#!/bin/bash\nprintf '%s\\n' \"$*\" >>"+p.scratch+"/calls\nfor a in \"$@\"; do [[ $a == body@* ]] && cp \"${a#body@}\" "+p.scratch+"/posted; done\n[[ $* == *--request* ]] || cat "+p.scratch+"/notes\n", 0o755)
	p.write("notes", `[{"id":3,"type":null,"body":"hello {you}","author":{"id":9}}]`, 0o644)
	script := strings.ReplaceAll(job.Script[0], "/tmp/drawknife", p.scratch+"/tmp/drawknife") // apart from other runs
	run := func(more ...string) (int, string) {
		environment := []string{"CI_PROJECT_DIR=" + p.repository, "CI_MERGE_REQUEST_DIFF_BASE_SHA=" + p.base, "CI_API_V4_URL=https://gitlab.example/api/v4", "CI_PROJECT_ID=5", "CI_MERGE_REQUEST_IID=8"}
		for name, value := range job.Variables {
			environment = append(environment, name+"="+value)
		}
		return p.bash(script, append(append(environment, "DRAWKNIFE_REPOSITORY=file://"+source), more...)...)
	}
	if status, printed := run(); status != 16 {
		t.Fatalf("status %d:\n%s", status, printed)
	}
	for name, path := range job.Artifacts.Reports {
		report := p.read("repository/" + path)
		if name != "junit" || xml.Unmarshal([]byte(report), new(struct{})) != nil || !strings.Contains(report, `failures="2"`) {
			t.Errorf("%s: %s", name, report)
		}
	}
	if status, printed := run("DRAWKNIFE_TOKEN=secret"); status != 16 || !strings.Contains(p.read("calls"), "--request POST --header PRIVATE-TOKEN: secret --data-urlencode body@"+p.repository+"/.drawknife/body.md https://gitlab.example/api/v4/projects/5/merge_requests/8/notes\n") {
		t.Errorf("status %d: %s\n%s", status, printed, p.read("calls"))
	} else if strings.Contains(printed, "secret") || !strings.Contains(p.read("posted"), "**The change breaks 2 of 6 rules") {
		t.Errorf("%s\n%s", printed, p.read("posted"))
	}
	p.write("notes", `[{"id":3,"type":null,"body":"hello {you}","author":{"id":9}},{"id":77,"type":null,"body":"\u003c!-- drawknife gate: budget.yaml --\u003e\n**old** {x}","author":{"id":9}}]`, 0o644)
	if status, printed := run("DRAWKNIFE_TOKEN=secret"); status != 16 || !strings.Contains(p.read("calls"), "--request PUT") || !strings.Contains(p.read("calls"), "/notes/77\n") {
		t.Errorf("status %d: %s\n%s", status, printed, p.read("calls"))
	}
}

// A base commit that the checkout lacks is fetched, and a change that adds all manifests has nothing to compare with.
func TestGateScript(t *testing.T) {
	p := newPlace(t)
	gate, err := filepath.Abs("gate.sh")
	if err != nil {
		t.Fatal(err)
	}
	if status, printed := p.bash("go build -o " + p.scratch + "/drawknife"); status != 0 {
		t.Fatal(printed)
	}
	clone := filepath.Join(p.scratch, "clone")
	p.git("config", "uploadpack.allowAnySHA1InWant", "true")
	p.git("clone", "-q", "--depth", "1", "--branch", "change", "file://"+p.repository, clone)
	run := func(environment ...string) (int, string) {
		return p.bash("cd "+clone+"; "+gate, append([]string{"DRAWKNIFE=" + p.scratch + "/drawknife", "GATE_OUT=" + p.scratch + "/out", "GATE_BASE=" + p.base, "GATE_POLICY=budget.yaml"}, environment...)...)
	}
	if status, printed := run("GATE_PATH=deploy"); status != 16 {
		t.Errorf("status %d: %s", status, printed)
	}
	for name, want := range map[string]string{"GATE_PATH=": "gate: set a path of manifests, or a command that renders them", "GATE_BASE=": "gate: GATE_BASE is not set", "GATE_BASE=0123456789012345678901234567890123456789": "gate: cannot fetch the base commit 0123456789012345678901234567890123456789"} {
		if status, printed := run("GATE_PATH=deploy", name); status != 1 || !strings.Contains(printed, want) {
			t.Errorf("%s: status %d: %s", name, status, printed)
		}
	}
	p.git("-C", clone, "mv", "deploy", "new")
	if status, printed := run("GATE_PATH=new", "GATE_ARGS=-o json --region eu-west-1"); status != 16 || !strings.Contains(printed, `"change": "added"`) {
		t.Errorf("new manifests: status %d: %s", status, printed)
	}
}
