package scenario_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

func solve(t *testing.T, s *scenario.Scenario) *scheduling.Plan {
	t.Helper()
	model, err := scheduling.Compile(s.Snapshot)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestGenerated(t *testing.T) {
	for _, size := range scenario.Sizes() {
		s, err := scenario.Generated(strings.ToUpper(size.Name), 20, workload.Seed)
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != size.Name || len(s.Snapshot.Pods) != 20 || s.Seed != workload.Seed {
			t.Errorf("%s: %q with %d pods of seed %d", size.Name, s.Name, len(s.Snapshot.Pods), s.Seed)
		}
		if size.Small >= size.Full {
			t.Errorf("%s: the small size %d is not smaller than %d", size.Name, size.Small, size.Full)
		}
	}
	if s, err := scenario.Generated("d", 0, 1); err != nil || len(s.Snapshot.Pods) != 5000 {
		t.Errorf("0 pods are not the full size: %v", err)
	}
	for _, c := range []struct {
		name string
		pods int
	}{{"x", 1}, {"h", 1}, {"a", -1}, {"a", 2_000_000}} {
		if _, err := scenario.Generated(c.name, c.pods, 1); err == nil {
			t.Errorf("%s with %d pods is not refused", c.name, c.pods)
		}
	}
}

// The example of the package comment is a scenario that can be planned.
func TestDocumentedFile(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for line := range strings.Lines(string(doc)) {
		// The first catalogue is taken out: a file has either one or the types themselves.
		if line, code := strings.CutPrefix(line, "//	"); code && !strings.HasPrefix(line, "s, err") && !strings.HasPrefix(line, "catalog:") {
			text.WriteString(line)
		}
	}
	s, err := scenario.FromText("x", text.String())
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "shop" || len(s.Snapshot.Pods) != 300 || len(s.Snapshot.Nodes) != 10 || len(s.Snapshot.Nodes[0].Pods) != 4 {
		t.Errorf("%s: %d pods, %d nodes", s.Name, len(s.Snapshot.Pods), len(s.Snapshot.Nodes))
	}
	pod := s.Snapshot.Pods[0]
	if c := pod.Spec.TopologySpreadConstraints[0]; c.LabelSelector.MatchLabels["app"] != "web" || pod.Namespace != "shop" || pod.Labels["tier"] != "front" {
		t.Errorf("the spread selects %v", c.LabelSelector)
	}
	if plan := solve(t, s); len(plan.Existing) == 0 {
		t.Error("no pod goes to a node that is there")
	}
}

func TestFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	name := write("three.yaml", "deployments:\n- {name: a, count: 1, requests: {cpu: 1}}\n- {name: b, count: 2, requests: {cpu: 1}}\n")
	s, err := scenario.Read(name, 0)
	if err != nil || s.Name != "three" || len(s.Snapshot.Pods) != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	if plan := solve(t, s); plan.HourlyCost <= 0 || len(plan.Unschedulable) > 0 {
		t.Errorf("the types of the generated scenarios don't hold it: %v", plan.Unschedulable)
	}
	if s, err = scenario.Read(name, 100); err != nil || len(s.Snapshot.Pods) != 100 {
		t.Errorf("scaled to 100 it has %d pods, %v", len(s.Snapshot.Pods), err)
	}
	counts := map[string]int{}
	for _, pod := range s.Snapshot.Pods {
		counts[pod.Labels["app"]]++
	}
	if counts["a"] != 33 || counts["b"] != 67 {
		t.Errorf("scaled to 100 the deployments have %v", counts)
	}
	ec2 := write("ec2.yaml", "catalog: ec2\ndeployments: [{name: a, count: 1, requests: {cpu: 1}, nodeSelector: {karpenter.k8s.aws/instance-category: c}}]")
	if s, err = scenario.Read(ec2, 0); err != nil {
		t.Fatal(err)
	}
	if plan := solve(t, s); len(plan.Unschedulable) > 0 {
		t.Errorf("the built-in catalogue does not hold it: %v", plan.Unschedulable)
	}
	if _, err := scenario.Read(filepath.Join(folder, "none.yaml"), 0); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestFilesThatAreWrong(t *testing.T) {
	const one = "deployments: [{name: a, count: 1}]\n"
	for text, want := range map[string]string{
		"deployments: [":    "",
		"{}":                "deployments: there must be at least one",
		one + "surprise: 1": `unknown field "surprise"`,
		"deployments: [{name: a, count: 1}, {name: a, count: 1}]":                                "deployments[1].name",
		"deployments: [{name: a, count: -1}]":                                                    "deployments[0].count",
		"deployments: [{name: a, count: 600000}, {name: b, count: 600000}]":                      "1200000 pods are more than",
		"deployments: [{name: a, count: 1, requests: {cpu: -1}}]":                                "cpu is negative",
		one + "nodes: [{instanceType: x, count: 1}]":                                             `no "x"`,
		one + "nodes: [{count: -1}]":                                                             "nodes[0].count",
		one + "nodes: [{count: 1, pods: {b: 1}}]":                                                `no deployment "b"`,
		one + "nodes: [{count: 1, pods: {a: -1}}]":                                               "-1 pods of a",
		one + "nodePools: [{}]":                                                                  "nodePools[0].metadata.name",
		one + "catalog: nowhere.json":                                                            "nowhere.json",
		one + "catalog: ec2\ninstanceTypes: [{name: x, capacity: {cpu: 1, memory: 1, pods: 1}}]": "either a catalogue or",
		one + "instanceTypes: [{name: x}]":                                                       "cpu must be more than nothing",
		one + "instanceTypes: [{name: x, capacity: {cpu: 1, memory: 1, pods: 1}, offerings: [{zone: a, capacityType: spot}]}]": "a price above 0",
	} {
		if _, err := scenario.FromText("x", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: no text makes the reader of scenario files fall over, and what it takes can be planned on.
func FuzzParse(f *testing.F) {
	f.Add("deployments: [{name: a, count: 1}]")
	f.Add("instanceTypes: [{name: x, capacity: {cpu: 1, memory: 1, pods: 1}}]\ndeployments: [{name: a, count: 2, requests: {cpu: 1}}]")
	large := regexp.MustCompile(`\d{4}`)
	f.Fuzz(func(t *testing.T, text string) {
		if large.MatchString(text) {
			t.Skip("bounded by the count, but slow")
		}
		if s, err := scenario.FromText("fuzz", text); err == nil && s.Snapshot == nil {
			t.Error("neither a workload nor an error")
		}
	})
}

func TestObjects(t *testing.T) {
	folder := t.TempDir()
	csv := filepath.Join(folder, "pods.csv")
	if err := os.WriteFile(csv, []byte("name,cpu_milli,memory_mib,num_gpu,qos\na,1000,2048,0,LS\nb,2000,4096,1,BE\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.FromObjects(scenario.Objects{Files: []string{csv}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "h" || len(s.Snapshot.Pods) != 2 {
		t.Errorf("%s with %d pods", s.Name, len(s.Snapshot.Pods))
	}
	gpu := s.Snapshot.Pods[1].Spec.Containers[0].Resources.Requests["nvidia.com/gpu"]
	cpu := s.Snapshot.Pods[0].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
	if gpu.Value() != 1 || cpu.MilliValue() != 1000 {
		t.Errorf("%v GPUs, %v CPUs", gpu.String(), cpu.String())
	}
	if plan := solve(t, s); len(plan.Unschedulable) > 0 {
		t.Errorf("not placed: %v", plan.Unschedulable[0].Reasons)
	}
	if s, err = scenario.FromObjects(scenario.Objects{Files: []string{csv}}, 1); err != nil || len(s.Snapshot.Pods) != 1 {
		t.Errorf("cut to one pod: %v", err)
	}
	for name, text := range map[string]string{"empty": "", "no column": "name\na\n", "no number": "name,cpu_milli,memory_mib,num_gpu,qos\na,x,1,1,LS\n"} {
		if err := os.WriteFile(csv, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := scenario.FromObjects(scenario.Objects{Files: []string{csv}}, 0); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	if _, err := scenario.FromObjects(scenario.Objects{}, 0); err == nil {
		t.Error("no files are not refused")
	}
}

// The openb trace is found in the folder of data.
func TestOpenB(t *testing.T) {
	if _, found := scenario.OpenB(t.TempDir()); found {
		t.Error("found in an empty folder")
	}
	data := os.Getenv("DRAWKNIFE_DATA")
	if data == "" {
		t.Skip("DRAWKNIFE_DATA is not set: the folder with openb/pods.csv, openb/nodepool.yaml and ec2-catalog.json")
	}
	o, found := scenario.OpenB(data)
	if !found {
		t.Fatal("not found")
	}
	s, err := scenario.FromObjects(o, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Snapshot.Pods) != 8152 {
		t.Errorf("%d pods", len(s.Snapshot.Pods))
	}
}
