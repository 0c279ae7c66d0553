package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// suite is a package of a released module. Its specs run twice: once with the unchanged release, and once with a part of this project.
// Specs that never use this part of the project don't count.
type suite struct {
	name            string // in differences.yaml
	title, replaces string // in the report
	pkg             string
	ours            []string
	planned         bool   // the suite tests the planner; otherwise it tests definitions
	plugin          string // the name of a kube-scheduler plugin, if its recorded verdicts are replayed; then no test is run
}

func suites() []suite {
	disrupted := []string{"COMPAT_DISRUPTION=drawknife"}
	planned := []string{"COMPAT_PLANNER=drawknife"}
	definitions := []string{"COMPAT_DEFINITIONS=drawknife"}
	inGo := []string{"COMPAT_DEFINITIONS=drawknife-go"}
	const core, aws = "sigs.k8s.io/karpenter/", "github.com/aws/karpenter-provider-aws/"
	suites := []suite{
		{name: "scheduling", title: "Karpenter, scheduling", replaces: "planner behind `Scheduler.Solve`", pkg: core + "pkg/controllers/provisioning/scheduling", ours: planned, planned: true},
		{name: "provisioning", title: "Karpenter, provisioning", replaces: "planner behind `Scheduler.Solve`", pkg: core + "pkg/controllers/provisioning", ours: planned, planned: true},
		{name: "disruption", title: "Karpenter, disruption", replaces: "planner `disruption.Reference` behind the disruption controller", pkg: core + "pkg/controllers/disruption", ours: disrupted, planned: true},
		{name: "definitions-v1", title: "Karpenter, validation of NodePool and NodeClaim", replaces: "definitions", pkg: core + "pkg/apis/v1", ours: definitions},
		{name: "definitions-overlay", title: "Karpenter, validation of NodeOverlay", replaces: "definitions", pkg: core + "pkg/apis/v1alpha1", ours: definitions},
		{name: "definitions-aws", title: "AWS provider, validation of EC2NodeClass and NodePool", replaces: "definitions", pkg: aws + "pkg/apis/v1", ours: definitions},
		{name: "conversion", title: "Karpenter 1.0 and its AWS provider, conversion v1beta1 ↔ v1", replaces: "conversion (`--reference-compat`), over 400 random objects of each kind and direction"},
		{name: "go-v1", title: "Karpenter, validation of NodePool and NodeClaim", replaces: "validation in Go alone", pkg: core + "pkg/apis/v1", ours: inGo},
		{name: "go-overlay", title: "Karpenter, validation of NodeOverlay", replaces: "validation in Go alone", pkg: core + "pkg/apis/v1alpha1", ours: inGo},
		{name: "go-aws", title: "AWS provider, validation of EC2NodeClass and NodePool", replaces: "validation in Go alone", pkg: aws + "pkg/apis/v1", ours: inGo},
	}
	for _, p := range plugins() {
		suites = append(suites, suite{name: p.folder, title: "kube-scheduler, plugin " + p.title, replaces: "planner, asked for each verdict of the plugin's filter", plugin: p.folder})
	}
	return suites
}

// outcome has the results of the specs of a run, by name.
type outcome struct {
	state   map[string]string // "passed", "failed", "skipped", "panicked", …
	message map[string]string
	reached map[string]bool
}

// build compiles the test program of the suite.
func (w *workspace) build(s suite) (string, error) {
	binary := filepath.Join(w.dir, "bin", strings.ReplaceAll(strings.TrimPrefix(s.pkg, "github.com/"), "/", "_"))
	if w.built[binary] {
		return binary, nil
	}
	cmd := exec.Command("go", "test", "-c", "-modfile", w.modfile(), "-o", binary, s.pkg)
	cmd.Dir = w.here
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", s.pkg, err, out)
	}
	w.built[binary] = true
	return binary, nil
}

// run executes the suite with extra environment variables.
func (w *workspace) run(s suite, label string, env []string) (outcome, error) {
	out := newOutcome()
	base := filepath.Join(w.dir, s.name+"-"+label)
	report, reached, log := base+".json", base+".reached", base+".log"
	if w.again {
		return out, out.read(report, reached)
	}
	binary, err := w.build(s)
	if err != nil {
		return out, err
	}
	folder, err := w.packageFolder(s.pkg)
	if err != nil {
		return out, err
	}
	_ = os.Remove(reached)
	cmd := exec.Command(binary, "-test.timeout=20m", "-ginkgo.seed=1", "-ginkgo.flake-attempts=2", "-ginkgo.timeout=19m", "-ginkgo.no-color", "-ginkgo.json-report="+report)
	cmd.Dir = folder
	cmd.Env = append(append(os.Environ(), map[bool]string{true: "COMPAT_REACHED=", false: "COMPAT_JUDGED="}[s.planned]+reached), env...)
	file, err := os.Create(log)
	if err != nil {
		return out, err
	}
	cmd.Stdout, cmd.Stderr = file, file
	runErr := cmd.Run() // fails if a spec fails
	if err := file.Close(); err != nil {
		return out, err
	}
	if err := out.read(report, reached); err != nil {
		return out, fmt.Errorf("suite %s, %s: %w (%v; its output is in %s)", s.name, label, err, runErr, log)
	}
	return out, nil
}

type ginkgoReport struct {
	SpecReports []struct {
		ContainerHierarchyTexts []string
		LeafNodeType            string
		LeafNodeText            string
		LeafNodeLocation        struct {
			FileName   string
			LineNumber int
		}
		State   string
		Failure struct {
			Message        string
			ForwardedPanic string
		}
	}
}

func (o *outcome) read(report, reached string) error {
	data, err := os.ReadFile(report)
	if err != nil {
		return err
	}
	var reports []ginkgoReport
	if err := json.Unmarshal(data, &reports); err != nil {
		return err
	}
	type spec struct {
		text, file string
		line       int
	}
	var specs []spec
	states, messages := map[spec]string{}, map[spec]string{}
	for _, r := range reports {
		for _, s := range r.SpecReports {
			if s.LeafNodeType != "It" {
				if s.State == "failed" || s.State == "panicked" {
					return fmt.Errorf("%s failed: %s", s.LeafNodeType, s.Failure.Message)
				}
				continue
			}
			key := spec{strings.Join(append(append([]string{}, s.ContainerHierarchyTexts...), s.LeafNodeText), " "), filepath.Base(s.LeafNodeLocation.FileName), s.LeafNodeLocation.LineNumber}
			specs = append(specs, key)
			states[key], messages[key] = s.State, s.Failure.Message+s.Failure.ForwardedPanic
		}
	}
	sort.Slice(specs, func(i, j int) bool {
		a, b := specs[i], specs[j]
		return a.file < b.file || a.file == b.file && a.line < b.line
	})
	seen := map[string]int{}
	byPlace := map[string]string{}
	for _, s := range specs {
		name := s.text
		seen[name]++
		if seen[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
		o.state[name], o.message[name] = states[s], messages[s]
		byPlace[fmt.Sprintf("%q %d", s.text, s.line)] = name
	}
	lines, err := os.ReadFile(reached)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, line := range strings.Split(string(lines), "\n") {
		if name, ok := byPlace[line]; ok {
			o.reached[name] = true
		}
	}
	return nil
}

func (w *workspace) packageFolder(pkg string) (string, error) {
	for module, dir := range w.peers {
		if rest, ok := strings.CutPrefix(pkg, module+"/"); ok {
			return filepath.Join(dir, rest), nil
		}
	}
	return "", fmt.Errorf("no peer has package %s", strconv.Quote(pkg))
}
