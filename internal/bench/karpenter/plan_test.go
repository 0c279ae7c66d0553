package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// small is a workload as a saved snapshot states it: two instance types, a node that is half full, a DaemonSet.
const small = `{
 "time": "2026-01-01T00:00:00Z",
 "vocabulary": {"wellKnown": ["topology.kubernetes.io/zone", "example.com/tier"]},
 "catalogs": {"c": [
  {"name": "small", "requirements": [
    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["small"]},
    {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
    {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
    {"key": "example.com/tier", "operator": "In", "values": ["cheap"]}],
   "capacity": {"cpu": "4", "memory": "16Gi", "pods": "10"}, "overhead": {"kubeReserved": {"cpu": "100m"}},
   "offerings": [
    {"requirements": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}, {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}], "price": 0.1, "available": true},
    {"requirements": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}, {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}], "price": 0.2, "available": true},
    {"requirements": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["c"]}, {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}], "price": 0.2, "available": false}]}]},
 "nodePools": [{"key": {"name": "default"}, "catalog": "c", "object": {"metadata": {"name": "default"}, "spec": {"template": {"spec": {
   "nodeClassRef": {"group": "g", "kind": "K", "name": "n"}, "requirements": []}}}}}],
 "daemonSets": [{"metadata": {"namespace": "d", "name": "agent"}, "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}},
   "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "900m"}}}]}}}}],
 "nodes": [{"name": "there", "object": {"metadata": {"name": "there", "labels": {"kubernetes.io/hostname": "there", "topology.kubernetes.io/zone": "a"}},
   "status": {"capacity": {"cpu": "4", "memory": "16Gi", "pods": "10"}, "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "10"}}},
   "pods": [{"metadata": {"namespace": "d", "name": "running", "labels": {"app": "x"}}, "spec": {"nodeName": "there", "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}, "status": {"phase": "Running"}}]}],
 "pods": [PODS]}`

func pod(name, cpu, more string) string {
	return `{"metadata": {"namespace": "d", "name": "` + name + `", "labels": {"app": "x"}}, "spec": {` + more + `"containers": [{"name": "c", "resources": {"requests": {"cpu": "` + cpu + `"}}}]}, "status": {"phase": "Pending"}}`
}

func planned(t *testing.T, pods ...string) (*result, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	input := strings.NewReader(strings.Replace(small, "PODS", strings.Join(pods, ","), 1))
	if err := run(context.Background(), nil, input, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	var r result
	dec := json.NewDecoder(&stdout)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		t.Fatal(err)
	}
	return &r, stderr.String()
}

// One pod fits next to what runs and the DaemonSet; the next needs a node, where the DaemonSet takes its share; the
// third has a selector that fixes the zone; the last fits nowhere.
func TestPlan(t *testing.T) {
	r, said := planned(t,
		pod("a", "1", ""),
		pod("b", "3", ""),
		pod("c", "2500m", `"nodeSelector": {"topology.kubernetes.io/zone": "b", "example.com/tier": "cheap"},`),
		pod("e", "3100m", ""),
	)
	if said != "planning\n" {
		t.Errorf("said %q", said)
	}
	if len(r.Existing) != 1 || r.Existing[0].Name != "there" || !slices.Equal(r.Existing[0].Pods, []string{"d/a"}) {
		t.Errorf("existing: %+v", r.Existing)
	}
	if len(r.Unschedulable) != 1 || r.Unschedulable[0].Pod != "d/e" || r.Unschedulable[0].Reason == "" {
		t.Errorf("unschedulable: %+v", r.Unschedulable)
	}
	if len(r.NewNodes) != 2 {
		t.Fatalf("new: %+v", r.NewNodes)
	}
	for _, n := range r.NewNodes {
		if n.Pool != "default" || !slices.Equal(n.InstanceTypes, []string{"small"}) || len(n.Pods) != 1 {
			t.Errorf("%+v", n)
		}
		for _, e := range n.Requirements {
			if strings.HasPrefix(e.Key, "karpenter.sh/registered") || e.Key == "kubernetes.io/hostname" {
				t.Errorf("%s is of no claim", e.Key)
			}
		}
		if n.Pods[0] == "d/c" && !slices.ContainsFunc(n.Requirements, func(e requirement) bool {
			return e.Key == "topology.kubernetes.io/zone" && slices.Equal(e.Values, []string{"b"})
		}) {
			t.Errorf("the zone is not fixed: %+v", n.Requirements)
		}
	}
	if !slices.Equal(r.Order, []string{"d/b", "d/c", "d/a"}) {
		t.Errorf("order: %v, want the largest first", r.Order)
	}
	if r.WallSeconds <= 0 || r.CPUSeconds <= 0 || r.AllocMB <= 0 || r.Mallocs == 0 || r.PeakMB <= 0 {
		t.Errorf("took %+v", r.usage)
	}
}

// Pods that run count for spreads: the node in zone a has one, so that the next goes to zone b.
func TestPodsThatRunCount(t *testing.T) {
	r, _ := planned(t, pod("a", "100m", `"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
		"labelSelector": {"matchLabels": {"app": "x"}}}],`))
	if len(r.NewNodes) != 1 || len(r.Existing) != 0 {
		t.Errorf("%+v", r)
	}
}

func TestInputs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "workload.json")
	if err := os.WriteFile(file, []byte(strings.Replace(small, "PODS", "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	if err := run(context.Background(), []string{file}, nil, &stdout, &bytes.Buffer{}); err != nil || !strings.Contains(stdout.String(), `"newNodes":[]`) {
		t.Errorf("a workload without pods: %s, %v", stdout.String(), err)
	}
	stdout.Reset()
	if err := run(context.Background(), []string{"version"}, nil, &stdout, nil); err != nil || !strings.Contains(stdout.String(), " go1.") {
		t.Errorf("version: %s, %v", stdout.String(), err)
	}
	for name, text := range map[string]string{
		"no JSON":            "x",
		"two documents":      "{}{}",
		"overlays":           `{"nodeOverlays": [{}]}`,
		"placeholders":       `{"placeholders": [{}]}`,
		"default spread":     `{"defaultTopologySpread": [{}]}`,
		"pool without one":   `{"nodePools": [{}]}`,
		"node without one":   `{"nodes": [{}]}`,
		"pool without class": `{"nodePools": [{"object": {"metadata": {"name": "p"}}}]}`,
	} {
		if err := run(context.Background(), nil, strings.NewReader(text), &stdout, &bytes.Buffer{}); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	if run(context.Background(), []string{"a", "b"}, nil, &stdout, nil) == nil || run(context.Background(), []string{file + "x"}, nil, &stdout, nil) == nil {
		t.Error("two arguments, or a file that is not there, are taken")
	}
}
