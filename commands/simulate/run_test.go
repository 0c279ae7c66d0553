package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling"
)

// answer is what a run of the command gave back.
type answer struct {
	code           int
	stdout, stderr string
}

// simulate runs the command as main does.
func simulate(t testing.TB, stdin string, args ...string) answer {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(context.Background(), args, strings.NewReader(stdin), &stdout, &stderr, Options{})
	return answer{code, stdout.String(), stderr.String()}
}

var (
	durations   = regexp.MustCompile(`(Compiled|solved|Planned|Replayed) in [0-9.]+ ms`)
	solveMillis = regexp.MustCompile(`"(solve|plan|compile)Millis": [0-9.e-]+`)
)

// timeless replaces what differs from run to run.
func timeless(s string) string {
	s = durations.ReplaceAllString(s, "$1 in N ms")
	return solveMillis.ReplaceAllString(s, `"${1}Millis": 0`)
}

// plan reads the output of -o json.
func (a answer) plan(t testing.TB) document {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.stdout))
	decoder.DisallowUnknownFields()
	var d document
	if err := decoder.Decode(&d); err != nil {
		t.Fatalf("standard output is not a plan: %v\n%s%s", err, a.stdout, a.stderr)
	}
	return d
}

const smallCatalog = "testdata/catalog.json"

func TestRun(t *testing.T) {
	kubectl, err := os.ReadFile("testdata/kubectl.json")
	if err != nil {
		t.Fatal(err)
	}
	tests := []runCase{
		{name: "builtin"},
		{name: "shop", args: []string{"--catalog", smallCatalog, "testdata/shop"}, code: exitUnschedulable},
		{name: "banana", args: []string{"--catalog", smallCatalog, "testdata/banana.yaml"}, code: exitUnschedulable},
		{name: "deployment", args: []string{"testdata/deployment.yaml", "--catalog", smallCatalog}},
		{name: "workloads", args: []string{"--catalog", smallCatalog, "testdata/workloads/operators.yaml"}},
		{name: "zones", args: []string{"testdata/deployment.yaml", "--catalog", smallCatalog, "--zones", "us-east-1c"}},
		{name: "requests", args: []string{"testdata/requests", "--now", "2026-01-01T12:00:00Z"}, code: exitUnschedulable},
		{name: "kubectl", args: []string{"--catalog", smallCatalog, "-"}, stdin: string(kubectl)},
		{
			name: "describe-instance-types",
			args: []string{"--catalog", "testdata/ec2.json", "--prices", "testdata/prices.json", "testdata/deployment.yaml"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { checkRun(t, test) })
	}
}

// runCase is a command line with golden files for what it prints.
type runCase struct {
	// name is that of the golden files.
	name  string
	args  []string
	stdin string
	code  int
}

// checkRun runs a command line for text and for JSON, compares both with their golden files, and returns the plan.
func checkRun(t *testing.T, test runCase) document {
	t.Helper()
	text := simulate(t, test.stdin, test.args...)
	if text.code != test.code {
		t.Errorf("text: exit status is %d, want %d", text.code, test.code)
	}
	golden(t, test.name+".txt", []byte(timeless(text.stdout)))
	golden(t, test.name+".stderr.txt", []byte(text.stderr))

	asJSON := simulate(t, test.stdin, append(slices.Clone(test.args), "-o", "json")...)
	if asJSON.code != test.code || asJSON.stderr != text.stderr {
		t.Errorf("json: exit status %d, standard error\n%s", asJSON.code, asJSON.stderr)
	}
	d := asJSON.plan(t)
	checkDocument(t, d)
	golden(t, test.name+".json", []byte(timeless(shortenTypes(t, asJSON))))
	return d
}

// shortenTypes keeps golden files readable: of a node's instance types it leaves the first three.
func shortenTypes(t *testing.T, a answer) string {
	d := a.plan(t)
	for i, node := range d.Nodes {
		if more := len(node.InstanceTypes) - 3; more > 0 {
			d.Nodes[i].InstanceTypes = append(node.InstanceTypes[:3:3], fmt.Sprintf("and %d more", more))
		}
	}
	var b bytes.Buffer
	if err := d.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkDocument holds a plan to what the contract says of every plan.
func checkDocument(t testing.TB, d document) {
	t.Helper()
	seen := make(map[string]int)
	placed, cost := 0, 0.0
	for _, node := range d.Nodes {
		cost += node.Price
		placed += len(node.Pods)
		for _, pod := range node.Pods {
			seen[pod]++
		}
		if len(node.InstanceTypes) == 0 || node.InstanceTypes[0] != node.InstanceType {
			t.Errorf("%s: instanceType %s does not lead instanceTypes", node.Name, node.InstanceType)
		}
	}
	for _, node := range d.Existing {
		placed += len(node.Pods)
		for _, pod := range node.Pods {
			seen[pod]++
		}
	}
	for _, pod := range d.Unschedulable {
		seen[pod.Pod]++
		if len(pod.Reasons) == 0 {
			t.Errorf("%s has no place and no reason", pod.Pod)
		}
	}
	for _, p := range d.Preemptions {
		if seen[p.Pod] == 0 { // --preemption expect: it stands there alone
			seen[p.Pod]++
		}
	}
	for pod, times := range seen {
		if times != 1 {
			t.Errorf("%s is %d times in the plan", pod, times)
		}
	}
	checkBuffers(t, d)
	s := d.Summary
	if r := s.Replicas; r != nil && (r.Min.Pods > s.Pods || r.Max.Pods < s.Pods || len(r.Workloads) == 0) {
		t.Errorf("%d pods are not in the range of autoscalers: %+v", s.Pods, r)
	}
	want := summary{
		Replicas: s.Replicas, Usage: s.Usage,
		Pods: len(seen), Placed: placed, Unschedulable: len(d.Unschedulable), ExistingNodes: len(d.Existing),
		NewNodes: len(d.Nodes), HourlyCost: s.HourlyCost, LowerBound: s.LowerBound, SolveMillis: s.SolveMillis,
		ReplacedNodes: s.ReplacedNodes, ReplacedCost: s.ReplacedCost, ReplacedEstimated: s.ReplacedEstimated, CompileMillis: s.CompileMillis,
		OnDemandCost: s.OnDemandCost, LowCost: s.LowCost, HighCost: s.HighCost,
	}
	if s.HighCost > 0 && (s.LowCost > s.HourlyCost+1e-6 || s.HighCost < s.HourlyCost-1e-6) {
		t.Errorf("%v is not between %v and %v", s.HourlyCost, s.LowCost, s.HighCost)
	}
	priced := 0
	for _, p := range d.Prices {
		priced += p.Nodes
		if p.Confidence == "estimated" {
			want.Estimated += p.Nodes
		}
	}
	if priced != len(d.Nodes) {
		t.Errorf("sources are given for the prices of %d nodes, the plan has %d", priced, len(d.Nodes))
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("summary does not fit its plan (-want +got):\n%s", diff)
	}
	if math.Abs(cost-s.HourlyCost) > 1e-6*cost {
		t.Errorf("hourlyCost is %v, prices add up to %v", s.HourlyCost, cost)
	}
	if s.LowerBound > s.HourlyCost {
		t.Errorf("lowerBound %v is above the cost %v", s.LowerBound, s.HourlyCost)
	}
}

// checkBuffers holds what a plan says of each capacity buffer to what it says of the placeholders.
func checkBuffers(t testing.TB, d document) {
	t.Helper()
	pods, launched, existing, unplaced := 0, 0, 0, 0
	for _, buffer := range d.Buffers {
		if buffer.New+buffer.Existing+buffer.Unplaced != buffer.Pods {
			t.Errorf("%s: %d, %d and %d are not %d", buffer.Name, buffer.New, buffer.Existing, buffer.Unplaced, buffer.Pods)
		}
		if (len(buffer.Reasons) > 0) != (buffer.Unplaced > 0) {
			t.Errorf("%s has no room for %d placeholders, and %d reasons", buffer.Name, buffer.Unplaced, len(buffer.Reasons))
		}
		pods, launched, existing, unplaced = pods+buffer.Pods, launched+buffer.New, existing+buffer.Existing, unplaced+buffer.Unplaced
	}
	seen := make(map[string]bool)
	for _, node := range d.Nodes {
		launched -= len(node.Placeholders)
		for _, name := range node.Placeholders {
			seen[name] = true
		}
	}
	for _, node := range d.Existing {
		existing -= len(node.Placeholders)
		for _, name := range node.Placeholders {
			seen[name] = true
		}
	}
	if launched != 0 || existing != 0 || len(seen)+unplaced != pods {
		t.Errorf("buffers speak of %d placeholders that nodes don't name, and %d of %d are named", launched+existing, len(seen), pods)
	}
}

// A refused pod is explained for the pool, in the words operators know.
func TestTaintIsExplained(t *testing.T) {
	d := simulate(t, "", "--catalog", smallCatalog, "-o", "json", "testdata/banana.yaml").plan(t)
	want := podReason{
		NodePool: "banana", Code: "TaintNotTolerated",
		Message:     `incompatible with nodepool "banana", did not tolerate example.com/special-taint=:NoSchedule`,
		NearestMiss: "would fit if it tolerated example.com/special-taint=:NoSchedule",
	}
	for _, pod := range d.Unschedulable {
		if pod.Pod == "default/lonely" {
			if diff := cmp.Diff([]podReason{want}, pod.Reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Errorf("default/lonely is not among the unschedulable: %+v", d.Unschedulable)
}

func TestRunRefusesBadInput(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want []string // parts of standard error
	}{
		{"an unknown flag", []string{"--frobnicate"}, []string{"simulate: ", "-frobnicate", "--help"}},
		{"a missing file", []string{"testdata/absent.yaml"}, []string{"testdata/absent.yaml", "no such file"}},
		{"malformed YAML", []string{"testdata/bad/malformed.yaml"}, []string{"testdata/bad/malformed.yaml", "document 2", "line 1"}},
		{"a wrong type", []string{"testdata/bad/type.yaml"}, []string{"testdata/bad/type.yaml", "document 1", "spec.replicas"}},
		{
			"an invalid pool",
			[]string{"testdata/bad/nodepool.yaml"},
			[]string{
				"spec.template.metadata.labels", "kubernetes.io/hostname",
				"spec.template.spec.requirements[0]", "spec.limits",
			},
		},
		{
			"impossible requests",
			[]string{"testdata/bad/request.yaml"},
			[]string{"spec.containers[0].resources.requests[memory]", "-1Gi", "500m"},
		},
		{
			"every fault at once",
			[]string{"testdata/bad"},
			[]string{"simulate: testdata/bad/malformed.yaml: ", "simulate: testdata/bad/type.yaml: ", "simulate: testdata/bad/request.yaml: "},
		},
		{
			"an object given twice",
			[]string{"testdata/bad/once.yaml", "testdata/bad/twice.yaml"},
			[]string{"testdata/bad/once.yaml", "testdata/bad/twice.yaml", "twin"},
		},
		{"a folder without manifests", []string{"EMPTY"}, []string{"no *.yaml, *.yml or *.json in"}},
		{"a catalogue that is none", []string{"--catalog", "testdata/kubectl.json"}, []string{"testdata/kubectl.json"}},
		{"instance types without prices", []string{"--catalog", "testdata/ec2.json"}, []string{"testdata/ec2.json", "prices"}},
		{"no such catalogue", []string{"--catalog", "testdata/absent.json"}, []string{"testdata/absent.json"}},
		{"no such prices", []string{"--catalog", "testdata/ec2.json", "--prices", "testdata/absent.json"}, []string{"absent.json"}},
		{"a zone the catalogue has not", []string{"--zones", "mars-1a"}, []string{`no zone "mars-1a"`, "us-east-1a"}},
		{"no such snapshot", []string{"--snapshot", "testdata/absent.yaml"}, []string{"testdata/absent.yaml"}},
		{"a snapshot that is none", []string{"--snapshot", "testdata/bad/malformed.yaml"}, []string{"malformed.yaml"}},
		{"manifests in place of a snapshot", []string{"--snapshot", "testdata/banana.yaml"}, []string{"testdata/banana.yaml: it contains Kubernetes objects (the first is a NodePool)", "simulate testdata/banana.yaml"}},
		{"a list of objects in place of a snapshot", []string{"--snapshot", "testdata/kubectl.json"}, []string{"the first is a List"}},
		{"a snapshot that can't be written", []string{"--save-snapshot", "EMPTY/absent/s.yaml"}, []string{"saving the snapshot"}},
		{"a certificate that can't be written", []string{"--certificate", "EMPTY/absent/c.json"}, []string{"writing the certificate"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			empty := t.TempDir()
			args := make([]string, len(test.args))
			for i, arg := range test.args {
				args[i] = strings.Replace(arg, "EMPTY", empty, 1)
			}
			got := simulate(t, "", args...)
			code := exitInput
			if strings.Contains(test.name, "written") {
				code = exitOutput
			}
			if got.code != code {
				t.Errorf("exit status is %d, want %d", got.code, code)
			}
			if got.stdout != "" {
				t.Errorf("standard output is not empty: %s", got.stdout)
			}
			for _, part := range test.want {
				if !strings.Contains(got.stderr, part) {
					t.Errorf("standard error lacks %q:\n%s", part, got.stderr)
				}
			}
		})
	}
}

func TestRunHelp(t *testing.T) {
	got := simulate(t, "", "--help")
	if got.code != exitPlaced || got.stdout != helpText || got.stderr != "" {
		t.Errorf("--help gave status %d, standard error %q and %d characters", got.code, got.stderr, len(got.stdout))
	}
	for _, line := range strings.Split(helpText, "\n") {
		if width(line) > plainWidth {
			t.Errorf("line of --help is wider than %d columns: %s", plainWidth, line)
		}
	}
}

func TestRunStopsWhenTold(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := Run(ctx, nil, strings.NewReader(""), &stdout, &stderr, Options{}); code == exitPlaced || stdout.Len() > 0 {
		t.Errorf("exit status is %d, standard output %q", code, stdout.String())
	}
	got := simulate(t, "", "--timeout", "1ns")
	if want := "gave up after --timeout 1ns"; got.code != exitTimeout || !strings.Contains(got.stderr, want) {
		t.Errorf("exit status is %d, standard error %q, want it to contain %q", got.code, got.stderr, want)
	}
}

// withoutNotes leaves out remarks on how the input was read, which a replay is not: what is noted of it is the plan's.
func withoutNotes(t *testing.T, a answer) string {
	t.Helper()
	d := a.plan(t)
	d.Notes = slices.DeleteFunc(d.Notes, func(n planNote) bool { return n.Code != string(scheduling.NoteNodeOverlayNotApplied) })
	var b bytes.Buffer
	if err := d.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What is said on standard error is in the JSON output too, with codes.
func TestNotes(t *testing.T) {
	bare := "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, colour: red, resources: {requests: {cpu: 1}}}]}\n"
	got := simulate(t, bare, "--catalog", smallCatalog, "-o", "json", "-", "testdata/shop", "./testdata/shop/nodepool.yaml", "testdata/shop/workloads.yml", "testdata/shop/workloads.yml")
	var codes []string
	for _, n := range got.plan(t).Notes {
		codes = append(codes, n.Code)
		text := n.Message
		if n.Where != "" {
			text = n.Where + ": " + n.Object
		}
		if !strings.Contains(got.stderr, text) {
			t.Errorf("standard error lacks %q:\n%s", text, got.stderr)
		}
	}
	want := []string{"RepeatedInput", "RepeatedInput", "RepeatedInput", "UnknownField", "UnknownKind", "ImagesAssumed"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s\n%s", diff, got.stderr)
	}
	for _, part := range []string{
		"note: testdata/shop/workloads.yml is given more than once, and read once",
		"note: testdata/shop/nodepool.yaml is in testdata/shop, which is given too: it is read once",
	} {
		if !strings.Contains(got.stderr, part) {
			t.Errorf("standard error lacks %q:\n%s", part, got.stderr)
		}
	}
}

// A saved snapshot reproduces the plan byte for byte.
func TestReplay(t *testing.T) {
	for _, args := range [][]string{
		nil,
		{"--catalog", smallCatalog, "testdata/shop"},
		{"--catalog", smallCatalog, "testdata/kubectl.json", "--now", "2026-05-01T12:00:00Z"},
		{"--catalog", smallCatalog, "testdata/constraints/class.yaml", "testdata/constraints/buffer.yaml"},
		{"--catalog", smallCatalog, "testdata/constraints/class.yaml", "testdata/constraints/pool.yaml", "testdata/constraints/volumes.yaml"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if args == nil && testing.Short() {
				t.Skip("writing and reading all of EC2's instance types takes seconds")
			}
			file := filepath.Join(t.TempDir(), "snapshot.yaml")
			before := simulate(t, "", append(args, "-o", "json", "--save-snapshot", file)...)
			after := simulate(t, "", "-o", "json", "--snapshot", file)
			if before.code != after.code {
				t.Errorf("exit status is %d, of the replay %d\n%s", before.code, after.code, after.stderr)
			}
			if diff := cmp.Diff(timeless(withoutNotes(t, before)), timeless(withoutNotes(t, after))); diff != "" {
				t.Errorf("plan (-first +replay):\n%s", diff)
			}
		})
	}
}

// A replay that saves its snapshot saves the one it was given.
func TestReplaySavesTheSame(t *testing.T) {
	first, second := filepath.Join(t.TempDir(), "1.yaml"), filepath.Join(t.TempDir(), "2.yaml")
	simulate(t, "", "--catalog", smallCatalog, "testdata/shop", "--save-snapshot", first)
	simulate(t, "", "--snapshot", first, "--save-snapshot", second)
	a, errA := os.ReadFile(first)
	b, errB := os.ReadFile(second)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if !bytes.Equal(a, b) {
		t.Error("the snapshot saved by the replay differs from the one it was given")
	}
}

// The same input gives the same bytes, whatever else runs.
func TestDeterminism(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, args := range [][]string{nil, {"--catalog", smallCatalog, "testdata/shop"}} {
		var outputs []string
		for _, procs := range []int{1, 2, 1, 2} {
			runtime.GOMAXPROCS(procs)
			outputs = append(outputs, timeless(simulate(t, "", append(args, "-o", "json")...).stdout))
		}
		for _, output := range outputs[1:] {
			if diff := cmp.Diff(outputs[0], output); diff != "" {
				t.Errorf("%v: output differs between runs:\n%s", args, diff)
			}
		}
	}
}

// --zones and the order of inputs and flags change what they are meant to change, and nothing else.
func TestZones(t *testing.T) {
	d := simulate(t, "", "--zones", "us-east-1b", "-o", "json", "testdata/deployment.yaml").plan(t)
	if len(d.Nodes) == 0 {
		t.Fatal("no node is planned")
	}
	for _, node := range d.Nodes {
		if node.Zone != "us-east-1b" {
			t.Errorf("%s is planned in %s", node.Name, node.Zone)
		}
	}
}

func TestCertificateIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "certificate.json")
	d := simulate(t, "", "--certificate", file, "-o", "json", "testdata/deployment.yaml").plan(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var certificate certificateDocument
	if err := json.Unmarshal(data, &certificate); err != nil {
		t.Fatal(err)
	}
	bound, pods := 0.0, 0
	for _, class := range certificate.Classes {
		bound += float64(class.Count) * class.Value
		pods += class.Count
	}
	if pods != d.Summary.Placed || len(certificate.Types) == 0 {
		t.Errorf("certificate speaks of %d pods and %d types, want %d pods", pods, len(certificate.Types), d.Summary.Placed)
	}
	if math.Abs(bound-d.Summary.LowerBound) > 1e-6 {
		t.Errorf("certificate proves %v, lowerBound is %v", bound, d.Summary.LowerBound)
	}
}

// A person who ends a run is told how far it came and what was written, also while something is read that never ends.
func TestInterrupted(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"reading":  {[]string{"-"}, "simulate: interrupted while reading standard input: nothing was written\n"},
		"planning": {[]string{"--save-snapshot", saved, "--catalog", smallCatalog, "testdata/deployment.yaml"}, "saved.yaml was written, and nothing else\n"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			input, hold := io.Pipe()
			defer hold.Close()
			if name == "reading" {
				time.AfterFunc(50*time.Millisecond, func() { cancel(ErrInterrupted) })
			} else {
				cancel(ErrInterrupted) // the plan is the first to ask
			}
			var stdout, stderr bytes.Buffer
			code := Run(ctx, c.args, input, &stdout, &stderr, Options{})
			if code != exitInterrupted || stdout.Len() > 0 || !strings.HasSuffix(stderr.String(), c.want) {
				t.Errorf("exit status %d, standard error %q, want %q", code, stderr.String(), c.want)
			}
		})
	}
}

// Input without a pod that waits for a place is refused with what was expected, unless that is allowed.
func TestEmptyInput(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":       {"", "the input has no object"},
		"comments":      {"# a\n---\n# b\n", "the input has no object"},
		"empty list":    {"apiVersion: v1\nkind: List\nitems: []\n", "the input has no object"},
		"no replicas":   {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {replicas: 0, template: {spec: {containers: [{name: c}]}}}\n", "--allow-empty"},
		"placed, nodes": {"apiVersion: v1\nkind: Node\nmetadata: {name: a}\n", "all are on nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := simulate(t, c.in, "-"); got.code != exitInput || got.stdout != "" || !strings.Contains(got.stderr, c.want) {
				t.Errorf("exit status %d, standard error %q", got.code, got.stderr)
			}
			if got := simulate(t, c.in, "-", "--allow-empty"); got.code != exitPlaced {
				t.Errorf("allowed: exit status %d, standard error %q", got.code, got.stderr)
			}
		})
	}
}

// A saved snapshot has no secrets and is for the user's eyes alone, also where a file was before.
func TestSavedSnapshotIsPrivate(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	if err := os.WriteFile(saved, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, args: [--token=hunter2], env: [{name: PASSWORD, value: hunter2}]}]}\n"
	if got := simulate(t, pod, "-", "--save-snapshot", saved); got.code != exitPlaced {
		t.Fatal(got.stderr)
	}
	text, err := os.ReadFile(saved)
	if err != nil || strings.Contains(string(text), "hunter2") || !strings.Contains(string(text), "name: a") {
		t.Errorf("%v: the secret is kept, or the pod is not", err)
	}
	if info, err := os.Stat(saved); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, mode %v", err, info.Mode())
	}
}

// What is saved with --anonymize has no name of the input in it, and its plan costs the same on the same nodes.
func TestAnonymize(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	before := simulate(t, "", "--catalog", smallCatalog, "testdata/shop", "-o", "json", "--save-snapshot", saved, "--anonymize", "--anonymize-key", "k")
	text, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err, before.stderr)
	}
	for _, name := range []string{"name: general", "name: migrate", "name: proxy", "name: web", "name: train"} {
		if strings.Contains(string(text), name) {
			t.Errorf("%q is kept", name)
		}
	}
	after := simulate(t, "", "-o", "json", "--snapshot", saved)
	was, is := before.plan(t), after.plan(t)
	if was.Summary.HourlyCost != is.Summary.HourlyCost || was.Summary.Placed != is.Summary.Placed || was.Summary.Placed == 0 || len(was.Nodes) != len(is.Nodes) {
		t.Errorf("%+v became %+v", was.Summary, is.Summary)
	}
}

// Nothing that an input says steers the terminal; the command's own colours do.
func TestNothingSteersTheTerminal(t *testing.T) {
	const hostile = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {nodeSelector: {\"\\e[31mx\": \"\\u202e\"}, containers: [{name: c}], \"bad\\e]0;pwned\\aX\": 1}\n" +
		"---\napiVersion: v1\nkind: \"K\\e]0;pwned\\a\"\nmetadata: {name: b}\n" +
		"---\napiVersion: \"example.com\\x9b/v1\"\nkind: X\nmetadata: {name: b}\n"
	for _, args := range [][]string{{"-"}, {"-", "-o", "json"}, {"-", "--color", "always"}, {"\x1b[31m.yaml"}} {
		got := simulate(t, hostile, args...)
		for _, text := range []string{got.stdout, got.stderr} {
			if own := escapes.ReplaceAllString(text, ""); strings.ContainsAny(own, "\x1b\a\u009b\u202e") || len(args) < 3 && own != text {
				t.Errorf("%q: %q", args, text)
			}
		}
	}
}

// Every command says what it was built from, and which flag a mistyped one may stand for.
func TestVersionAndTypos(t *testing.T) {
	a := simulate(t, "", "--version")
	code, stdout, stderr := a.code, a.stdout, a.stderr
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "drawknife simulate ") || strings.Count(stdout, "\n") != 1 {
		t.Errorf("--version: %d, %q, %q", code, stdout, stderr)
	}
	a = simulate(t, "", "--reigon=x")
	code, stderr = a.code, a.stderr
	if code != exitInput || !strings.Contains(stderr, "did you mean --region?") {
		t.Errorf("a mistyped flag: %d, %q", code, stderr)
	}
}
