package manifests

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/aws/convert"
	"github.com/drawknife/drawknife/scheduling"
)

// now is the time of every test.
var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// source makes a source of YAML without the indentation of the test it stands in.
func source(name, text string) Source { return Source{Name: name, Data: []byte(dedent(text))} }

// dedent takes the indentation of the first line off every line, so that manifests can stand in tests in the place
// they belong. YAML has no tabs, so tabs are the test's.
func dedent(text string) string {
	lines := strings.Split(strings.TrimPrefix(text, "\n"), "\n")
	margin := len(lines[0]) - len(strings.TrimLeft(lines[0], "\t"))
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, strings.Repeat("\t", min(margin, len(line)-len(strings.TrimLeft(line, "\t")))))
	}
	return strings.Join(lines, "\n")
}

// load loads one source called in.yaml and fails the test if that is refused.
func load(t *testing.T, text string) *Result {
	t.Helper()
	return loadAll(t, Options{Now: now}, source("in.yaml", text))
}

// onAWS has AWS's node classes and objects of older generations read.
func onAWS(opts Options) Options {
	opts.Kinds, opts.Conversion = convert.Kinds(), convert.Conversion(convert.Options{})
	return opts
}

// loadAll loads sources as those of a cluster on AWS.
func loadAll(t *testing.T, opts Options, sources ...Source) *Result {
	t.Helper()
	result, err := Load(sources, onAWS(opts))
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return result
}

// refusal loads sources of a cluster on AWS that must be refused and returns why.
func refusal(t *testing.T, opts Options, sources ...Source) *LoadError {
	t.Helper()
	result, err := Load(sources, onAWS(opts))
	if err == nil {
		t.Fatalf("Load succeeded, want an error")
	}
	if result != nil {
		t.Errorf("Load returned a result with the error")
	}
	var refused *LoadError
	if !errors.As(err, &refused) {
		t.Fatalf("Load: %T is no *LoadError: %v", err, err)
	}
	return refused
}

func podNames(pods []*corev1.Pod) []string {
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Namespace+"/"+pod.Name)
	}
	return names
}

func warningCodes(r *Result) []WarningCode {
	var codes []WarningCode
	for _, w := range r.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func wantWarning(t *testing.T, r *Result, code WarningCode) Warning {
	t.Helper()
	for _, w := range r.Warnings {
		if w.Code == code {
			return w
		}
	}
	t.Errorf("no warning %s among %v", code, r.Warnings)
	return Warning{}
}

func wantNoWarnings(t *testing.T, r *Result) {
	t.Helper()
	for _, w := range r.Warnings {
		t.Errorf("unexpected warning: %s", w)
	}
}

func wantPods(t *testing.T, got []*corev1.Pod, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, podNames(got)); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func onlyNode(t *testing.T, r *Result) scheduling.Node {
	t.Helper()
	if len(r.Snapshot.Nodes) != 1 {
		t.Fatalf("%d nodes, want 1", len(r.Snapshot.Nodes))
	}
	return r.Snapshot.Nodes[0]
}

// simplePod is a pod of the namespace default that asks for a little, with more lines of its own at the margin given.
func simplePod(name, more string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec:\n  containers:\n  - name: main\n" +
		"    resources: {requests: {cpu: 100m, memory: 64Mi}}\n" + dedent(more)
}

func TestLoadNothing(t *testing.T) {
	result := loadAll(t, Options{Now: now})
	if !result.Snapshot.Time.Equal(now) {
		t.Errorf("time %v, want %v", result.Snapshot.Time, now)
	}
	if result.Snapshot.Vocabulary.IsZero() {
		t.Error("the snapshot has no vocabulary")
	}
	if len(result.Snapshot.Pods) != 0 || result.Warnings != nil || result.Skipped != nil {
		t.Errorf("something came of nothing: %+v", result)
	}
}

func TestLoadDocumentsThatHoldNothing(t *testing.T) {
	result := load(t, `
		# a comment

		---
		---
		# another
		---
		null
		...
		---
		`)
	wantNoWarnings(t, result)
	wantPods(t, result.Snapshot.Pods)
}

func TestLoadKeepsNothingOfTheSources(t *testing.T) {
	data := []byte(simplePod("a", ""))
	result, err := Load([]Source{{Name: "a", Data: data}}, onAWS(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = 'x'
	}
	pod := result.Snapshot.Pods[0]
	if pod.Name != "a" || pod.Spec.Containers[0].Name != "main" {
		t.Errorf("the pod changed with the source: %s %s", pod.Name, pod.Spec.Containers[0].Name)
	}
}

func TestLoadSkipsUnknownKinds(t *testing.T) {
	result := load(t, `
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: a}
		---
		apiVersion: v1
		kind: ConfigMap
		metadata: {name: b}
		---
		apiVersion: serving.knative.dev/v1
		kind: Service
		metadata: {name: a}
		`)
	want := map[string]int{"ConfigMap": 2, "Service.serving.knative.dev": 1}
	if diff := cmp.Diff(want, result.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]WarningCode{WarningUnknownKind, WarningUnknownKind}, warningCodes(result)); diff != "" {
		t.Errorf("each kind is to be named once (-want +got):\n%s", diff)
	}
	if got := result.Warnings[0].More; got != 1 {
		t.Errorf("the first warning stands for %d more, want 1", got)
	}
	if len(result.Snapshot.Services) != 0 {
		t.Error("a Service of another group was taken for one of Kubernetes")
	}
}

func TestLoadWarnsOfUnknownAndDuplicateFields(t *testing.T) {
	result := load(t, `
		apiVersion: v1
		kind: Pod
		metadata: {name: a}
		spec:
		  containers:
		  - name: one
		    resorces: {}
		  - name: two
		    resorces: {}
		  hostNetwork: false
		  hostNetwork: true
		`)
	var got []string
	for _, w := range result.Warnings {
		got = append(got, w.String())
	}
	want := []string{
		"in.yaml: document 1, line 7: Pod default/a: spec.containers[0].resorces: the kind has no such field; it is ignored (and 1 more)",
		"in.yaml: document 1, line 11: Pod default/a: spec.hostNetwork: the field is given twice; the last one counts",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if !result.Snapshot.Pods[0].Spec.HostNetwork {
		t.Error("the first of two equal fields counted")
	}
}

func TestLoadBoundsWarnings(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: x}]\n")
	var sources []Source
	for i := range 15 { // a decoder reports at most 100 fields of one object
		var doc strings.Builder
		doc.WriteString(strings.Replace(text.String(), "name: p", "name: p"+string(rune('a'+i)), 1))
		for j := range 100 {
			doc.WriteString("  field" + string(rune('a'+i)) + strings.Repeat("x", j) + ": 1\n")
		}
		sources = append(sources, Source{Name: string(rune('a' + i)), Data: []byte(doc.String())})
	}
	result := loadAll(t, Options{}, sources...)
	if got := len(result.Warnings); got != maxWarnings+1 {
		t.Errorf("%d warnings, want %d", got, maxWarnings+1)
	}
	if last := result.Warnings[len(result.Warnings)-1]; last.Code != WarningTooMany {
		t.Errorf("the last warning is %v, want one that says that there were more", last)
	}
}
