package simulate

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// Where a kind has its template and its number is said with a flag.
func TestParseWorkloadKind(t *testing.T) {
	for text, want := range map[string]manifests.WorkloadKind{
		"A.x.io=spec.template":            {Group: "x.io", Kind: "A", Parts: []manifests.WorkloadPart{{Template: "spec.template", Counts: []string{"spec.replicas"}}}},
		"A.x.io=template:n*m.k":           {Group: "x.io", Kind: "A", Parts: []manifests.WorkloadPart{{Template: "template", Counts: []string{"n", "m.k"}}}},
		"A.x.io=spec.l[].template":        {Group: "x.io", Kind: "A", Parts: []manifests.WorkloadPart{{List: "spec.l", Template: "template", Counts: []string{"replicas"}}}},
		"A.x.io=spec.l[].pod.spec.t:size": {Group: "x.io", Kind: "A", Parts: []manifests.WorkloadPart{{List: "spec.l", Template: "pod.spec.t", Counts: []string{"size"}}}},
	} {
		got, err := parseWorkloadKind(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "A", "A=spec.template", ".x=t", "A.=t", "A.x=", "A.x=t:", "A.x=a..b", "A.x=a[].b[].c", "A.x=a[0].b", "A.x=t:n*"} {
		if got, err := parseWorkloadKind(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// What makes pods is planned for, or named apart from what makes none; pods that ask for nothing are named too.
func TestWorkloadsOfOtherKinds(t *testing.T) {
	const template = "template: {spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1}}}]}}"
	input := filepath.Join(t.TempDir(), "in.yaml")
	if err := os.WriteFile(input, []byte(`
{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: web}, spec: {replicas: 2, `+template+`}}
---
{apiVersion: x.io/v1, kind: Worker, metadata: {name: work}, spec: {size: 3, `+template+`}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: idle}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {minReplicas: 4, maxReplicas: 6, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: idle}}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	const (
		skipped  = "skipped 1 object of kinds that planning does not read: ServiceAccount x1"
		notRead  = "1 skipped object may make pods that are not planned for: Worker.x.io x1; --template says where a kind has its pod template"
		requests = "%d pods without requests for CPU and memory: planned as if they needed none, so that the cost is too low: default/idle x%d"
		worker   = "--template=Worker.x.io=spec.template:spec.size"
	)
	for name, c := range map[string]struct {
		flags []string
		pods  int
		says  []string
	}{
		"by default":    {nil, 6, []string{skipped, notRead, fmt.Sprintf(requests, 4, 4), "planned with 4"}},
		"most":          {[]string{"--replicas", "max"}, 8, []string{skipped, notRead, fmt.Sprintf(requests, 6, 6), "planned with 6"}},
		"with template": {[]string{worker, "--replicas=min"}, 9, []string{skipped, fmt.Sprintf(requests, 4, 4)}},
	} {
		a := simulate(t, "", append(c.flags, "-o", "json", input)...)
		var d document
		if err := json.Unmarshal([]byte(a.stdout), &d); a.code != exitPlaced || err != nil {
			t.Fatalf("%s: %d, %v, %s", name, a.code, err, a.stderr)
		}
		if d.Summary.Pods != c.pods {
			t.Errorf("%s: %d pods, want %d", name, d.Summary.Pods, c.pods)
		}
		for _, text := range c.says {
			said := slices.ContainsFunc(d.Notes, func(n planNote) bool { return strings.Contains(n.Message, text) })
			if !said || !strings.Contains(a.stderr, text) {
				t.Errorf("%s: %q is not said:\n%s", name, text, a.stderr)
			}
		}
		if slices.Contains(c.flags, worker) && strings.Contains(a.stderr, "not planned for") {
			t.Errorf("%s: %s", name, a.stderr)
		}
	}
}

// Each skipped object is in one of the two lists: those that may make pods, and all others.
func TestSkippedObjects(t *testing.T) {
	const deployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}}}`
	object := func(metadata, spec string) string {
		return "\n---\n{apiVersion: x.io/v1, kind: Worker, metadata: {" + metadata + "}, spec: {" + spec + "}}"
	}
	const (
		containers = "containers: [{name: c}]"
		owned      = "name: c, ownerReferences: [{apiVersion: x.io/v1, kind: Worker, name: a, uid: u, controller: true}]"
		makers     = "%d skipped objects may make pods that are not planned for: Worker.x.io x%d;"
		others     = "skipped %s of kinds that planning does not read: Worker.x.io x%d"
	)
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"one without containers": {object("name: a", containers) + object("name: b", "model: m"), []string{fmt.Sprintf(makers, 2, 2)}},
		"one with an owner":      {object("name: a", containers) + object("name: b", "model: m") + object(owned, containers), []string{fmt.Sprintf(makers, 2, 2), fmt.Sprintf(others, "1 object", 1)}},
		"a reference": {"\n---\n{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: {name: r}, spec: {workloadRef: {kind: Deployment, name: other}}}", []string{
			"Rollout.argoproj.io default/r: spec.workloadRef: its pods are not planned: the input lacks Deployment other, which has their template",
			"1 skipped object may make pods that are not planned for: Rollout.argoproj.io x1;",
		}},
		"none with containers": {object("name: a", "") + object("name: b", "model: m"), []string{fmt.Sprintf(others, "2 objects", 2)}},
	} {
		a := simulate(t, deployment+c.text, "-")
		if a.code != exitPlaced || strings.Count(a.stderr, "Worker.x.io")+strings.Count(a.stderr, "Rollout.argoproj.io") != len(c.says) {
			t.Errorf("%s: exit status %d, %s", name, a.code, a.stderr)
		}
		for _, text := range c.says {
			if !strings.Contains(a.stderr, text) {
				t.Errorf("%s: standard error lacks %q:\n%s", name, text, a.stderr)
			}
		}
	}
}

// autoscaled are a Deployment from 4 to 20 pods, and a Service of Knative without a maximum.
const autoscaled = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 6, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 1, memory: 2Gi}}}]}}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {minReplicas: 4, maxReplicas: 20, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}
---
{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: hello}, spec: {template: {spec: {containers: [{image: x, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}}}}
`

// The summary has the range that autoscalers allow, and its ends cost what plans for them cost.
func TestReplicaRange(t *testing.T) {
	input := filepath.Join(t.TempDir(), "in.yaml")
	if err := os.WriteFile(input, []byte(autoscaled), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(flags ...string) document {
		t.Helper()
		a := simulate(t, "", append(flags, "-o", "json", input)...)
		var d document
		if err := json.Unmarshal([]byte(a.stdout), &d); a.code != exitPlaced || err != nil {
			t.Fatalf("%v: %d, %v, %s", flags, a.code, err, a.stderr)
		}
		return d
	}
	current, least, most := run(), run("--replicas=min"), run("--replicas=max")
	for planned, d := range map[string]document{"current": current, "min": least, "max": most} {
		r := d.Summary.Replicas
		if r == nil || r.Planned != planned {
			t.Fatalf("%s: %+v", planned, r)
		}
		for name, end := range map[string]struct {
			got  whatIf
			want summary
		}{"min": {r.Min, least.Summary}, "max": {r.Max, most.Summary}} {
			want := whatIf{Pods: end.want.Pods, NewNodes: &end.want.NewNodes, HourlyCost: &end.want.HourlyCost, Unschedulable: &end.want.Unschedulable}
			if diff := cmp.Diff(want, end.got); diff != "" {
				t.Errorf("planned %s, %s (-want +got):\n%s", planned, name, diff)
			}
		}
	}
	if current.Summary.Pods != 7 || least.Summary.Pods != 4 || most.Summary.Pods != 21 || least.Summary.HourlyCost >= current.Summary.HourlyCost {
		t.Errorf("%d, %d and %d pods", least.Summary.Pods, current.Summary.Pods, most.Summary.Pods)
	}
	twenty := 20
	want := []scaledWorkload{{"Service default/hello", "Knative", 1, 0, nil}, {"Deployment default/web", "HorizontalPodAutoscaler h", 6, 4, &twenty}}
	if diff := cmp.Diff(want, current.Summary.Replicas.Workloads); diff != "" {
		t.Errorf("workloads (-want +got):\n%s", diff)
	}

	// More pods than --max-replicas allows are counted all the same, and nothing is printed where there is no range.
	a := simulate(t, "", "--max-replicas=10", input)
	if want := "21 pods at most, not planned;"; a.code != exitPlaced || !strings.Contains(strings.Join(strings.Fields(a.stdout), " "), want) {
		t.Errorf("%d, %s%s", a.code, a.stdout, a.stderr)
	}
	if strings.Contains(simulate(t, "").stdout, "Autoscalers") {
		t.Error("the built-in cluster has no autoscaler")
	}
}

// Pods of one workload are looked at once, however many they are, and another workload for itself.
func TestRequestsByWorkload(t *testing.T) {
	const workloads = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {replicas: 5000, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec: {replicas: 7, template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: c}
spec: {replicas: 3, template: {spec: {containers: [{name: c}]}}}
`
	loaded, err := manifests.Load([]manifests.Source{{Name: "a", Data: []byte(workloads)}}, manifests.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var s simulation
	allocations := testing.AllocsPerRun(3, func() {
		s = simulation{}
		s.remarkOnRequests(loaded.Snapshot)
	})
	if want := "5,003 pods without requests for CPU and memory: planned as if they needed none, so that the cost is too low: default/a x5000, default/c x3"; len(s.remarks) != 1 || s.remarks[0].text != want {
		t.Errorf("%+v, want %q", s.remarks, want)
	}
	if allocations > 500 {
		t.Errorf("%v allocations for 5,010 pods", allocations)
	}
}
