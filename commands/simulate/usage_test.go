package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const usageCluster = "testdata/usage/cluster.yaml"

// usageArgs are command lines of the example, with usage from Prometheus or from VerticalPodAutoscalers.
var (
	usageOfPrometheus = []string{"--catalog", smallCatalog, "--now", "2026-01-01T12:00:00Z", usageCluster, "--usage", "cpu=testdata/usage/cpu.json", "--usage", "memory=testdata/usage/memory.json"}
	usageOfVPAs       = []string{"--catalog", smallCatalog, "--now", "2026-01-01T12:00:00Z", usageCluster, "--usage", "testdata/usage/vpas.yaml"}
)

func TestUsage(t *testing.T) {
	d := checkRun(t, runCase{name: "usage", args: usageOfPrometheus})
	if u := d.Summary.Usage; u == nil || u.Percentile == nil || *u.Percentile != 95 || u.Pods != 16 || u.PodsWithout != 1 || *u.Plan.HourlyCost >= d.Summary.HourlyCost {
		t.Errorf("%+v", u)
	}
	d = checkRun(t, runCase{name: "usage-vpas", args: usageOfVPAs})
	if u := d.Summary.Usage; u == nil || u.Percentile != nil || u.Pods != 14 || u.Workloads != 2 {
		t.Errorf("%+v", u)
	}
	golden(t, "usage.md", []byte(timeless(simulate(t, "", append(usageOfPrometheus, "-o", "markdown")...).stdout)))
}

// The printed plan itself does not depend on the usage, and CSV has no trace of it.
func TestUsageKeepsThePlan(t *testing.T) {
	bare := []string{"--catalog", smallCatalog, "--now", "2026-01-01T12:00:00Z", usageCluster, "-o", "json"}
	want := simulate(t, "", bare...).plan(t)
	got := simulate(t, "", append(usageOfPrometheus, "-o", "json")...).plan(t)
	got.Summary.Usage, got.Usage, got.Notes = nil, nil, want.Notes
	got.Summary.SolveMillis, got.Summary.CompileMillis = want.Summary.SolveMillis, want.Summary.CompileMillis
	if diff := cmp.Diff(printed(t, want), printed(t, got)); diff != "" {
		t.Errorf("(-without +with):\n%s", diff)
	}
	bare[len(bare)-1] = "csv"
	if diff := cmp.Diff(simulate(t, "", bare...).stdout, simulate(t, "", append(usageOfPrometheus, "-o", "csv")...).stdout); diff != "" {
		t.Errorf("CSV (-without +with):\n%s", diff)
	}
}

func printed(t *testing.T, d document) string {
	t.Helper()
	var b strings.Builder
	if err := d.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Usage that equals the requests gives the same cost, and so does usage of no pod of the input.
func TestUsageOfTheRequests(t *testing.T) {
	const vpa = `{"apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler", "metadata": {"name": "v", "namespace": "%s"}, "spec": {"targetRef": {"kind": "%s", "name": "%s"}},
"status": {"recommendation": {"containerRecommendations": [{"containerName": "%s", "target": {"cpu": "%s", "memory": "%s"}}]}}}
`
	all := ""
	for _, v := range [][6]any{
		{"shop", "Deployment", "web", "app", "1000m", "2Gi"}, {"shop", "Deployment", "web", "proxy", "0.1", "134217728"}, {"shop", "StatefulSet", "db", "postgres", "1", "4096Mi"},
		{"shop", "Job", "report", "report", "5e-1", "512Mi"}, {"shop", "Deployment", "cache", "redis", "1500m", "2Gi"}, {"monitoring", "DaemonSet", "agent", "agent", "100m", "128Mi"},
	} {
		all += fmt.Sprintf(vpa, v[:]...)
	}
	for name, text := range map[string]string{"equal": all, "elsewhere": fmt.Sprintf(vpa, "shop", "Deployment", "other", "app", "1m", "1Mi")} {
		file := filepath.Join(t.TempDir(), "vpas.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := simulate(t, "", "--catalog", smallCatalog, usageCluster, "--usage", file, "-o", "json").plan(t)
		u := d.Summary.Usage
		if *u.Plan.HourlyCost != d.Summary.HourlyCost || *u.Plan.NewNodes != d.Summary.NewNodes || name == "equal" && (u.PodsWithout != 0 || u.Workloads != 5) {
			t.Errorf("%s: %+v; the plan costs %v", name, u, d.Summary.HourlyCost)
		}
		if diff := cmp.Diff(u.Requested, u.Used); diff != "" {
			t.Errorf("%s (-requested +used):\n%s", name, diff)
		}
	}
}

func TestUsageRefusals(t *testing.T) {
	const file = "--usage testdata/usage/vpas.yaml "
	for name, c := range map[string]struct{ args, want string }{
		"consolidate":   {file + "--consolidate", "leave out --consolidate or --usage"},
		"diff":          {file + "--diff x.yaml", "leave out --diff or --usage"},
		"replay":        {file + "--replay x.csv", "leave out --replay or --usage"},
		"replace nodes": {file + "--replace-nodes a=b", "leave out --replace-nodes or --usage"},
		"no file":       {"--usage=", "needs the name of a file"},
		"no file of it": {"--usage cpu=", "needs the name of a file"},
		"a resource":    {"--usage disk=x.json", `"disk" is not one of cpu, memory; write ./disk=x.json if this is the name of a file`},
		"for nothing":   {"--usage-percentile 99", "--usage-percentile: use it only with --usage"},
		"too small":     {file + "--usage-percentile 0", "--usage-percentile 0: must be from 1 to 100"},
		"too large":     {file + "--usage-percentile 101", "--usage-percentile 101: must be from 1 to 100"},
		"missing":       {"--usage testdata/none.json", "reading usage: open testdata/none.json"},
		"another file":  {"--usage " + usageCluster, usageCluster + ": document 1: item 1: Node default/node-1: is not a VerticalPodAutoscaler"},
	} {
		a := simulate(t, "", append(strings.Fields(c.args), usageCluster)...)
		if a.code != exitInput || !strings.Contains(a.stderr, c.want) || a.stdout != "" {
			t.Errorf("%s: %d, %s, want %q", name, a.code, a.stderr, c.want)
		}
	}
}

// More than ten containers are shown only on demand.
func TestUsageTable(t *testing.T) {
	var objects, vpas strings.Builder
	for i := range 12 {
		fmt.Fprintf(&objects, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d%02d}\nspec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}}\n", i)
		fmt.Fprintf(&vpas, "---\napiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: d%02[1]d}\nspec: {targetRef: {kind: Deployment, name: d%02[1]d}}\nstatus: {recommendation: {containerRecommendations: [{containerName: c, target: {cpu: %[2]dm, memory: 1Gi}}]}}\n", i, 500+i)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"in.yaml": objects.String(), "vpas.yaml": vpas.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--catalog", smallCatalog, filepath.Join(dir, "in.yaml"), "--usage", filepath.Join(dir, "vpas.yaml")}
	short, long := simulate(t, "", args...).stdout, simulate(t, "", append(args, "-o", "wide")...).stdout
	if !strings.Contains(short, "Requests above usage (10 of 12 containers; --verbose lists all):") || strings.Contains(short[strings.Index(short, "above usage"):strings.Index(short, "below usage")], "d11") {
		t.Error(short)
	}
	if !strings.Contains(long, "Requests above usage:") || !strings.Contains(long, "Deployment default/d11") {
		t.Error(long)
	}
}

// Above the bound for a second plan, requests and usage are only compared.
func TestUsageOfManyPods(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.yaml")
	text := fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: %d, template: {spec: {containers: [{name: app, resources: {requests: {cpu: 1, memory: 2Gi}}}]}}}\n", mostPodsIf+1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--catalog", smallCatalog, file, "--usage", "testdata/usage/vpas.yaml"}
	if got, want := strings.Join(strings.Fields(simulate(t, "", args...).stdout), " "), "known for 20,001 of 20,001 pods: not planned, because there are more than 20,000 pods."; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	if u := simulate(t, "", append(args, "-o", "json")...).plan(t).Summary.Usage; u.Plan.Pods != mostPodsIf+1 || u.Plan.HourlyCost != nil || u.Plan.NewNodes != nil {
		t.Errorf("%+v", u)
	}
}
