package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// fleet is three nodes: one is empty, the pods of the other two fit onto one, of the smaller type.
const fleet = `{"time": "2026-01-01T00:00:00Z", "catalogs": {"c": [TYPES]},
 "nodePools": [{"key": {"name": "default"}, "catalog": "c", "object": {"metadata": {"name": "default"}, "spec": {"template": {"spec": {
   "nodeClassRef": {"group": "g.example.com", "kind": "K", "name": "n"}, "requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"BOUGHT]}]}}}}}],
 "nodes": [NODES]}`

func instance(name, cpu, price string) string {
	return `{"name": "` + name + `", "requirements": [
    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["` + name + `"]},
    {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
    {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}],
   "capacity": {"cpu": "` + cpu + `", "memory": "64Gi", "pods": "10"},
   "offerings": [{"requirements": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]},
     {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}], "price": ` + price + `, "available": true}]}`
}

func settled(name, instance, cpu string, pods ...string) string {
	var running []string
	for _, p := range pods {
		running = append(running, `{"metadata": {"namespace": "d", "name": "`+p+`"}, "spec": {"nodeName": "`+name+
			`", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Running"}}`)
	}
	labels := `"labels": {"kubernetes.io/hostname": "` + name + `", "topology.kubernetes.io/zone": "a", "karpenter.sh/capacity-type": "on-demand",
    "node.kubernetes.io/instance-type": "` + instance + `", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
    "karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}`
	return `{"name": "` + name + `", "object": {"metadata": {"name": "` + name + `", ` + labels + `}, "spec": {"providerID": "p://` + name + `"},
    "status": {"capacity": {"cpu": "` + cpu + `", "memory": "64Gi", "pods": "10"}, "allocatable": {"cpu": "` + cpu + `", "memory": "64Gi", "pods": "10"},
     "conditions": [{"type": "Ready", "status": "True"}]}},
   "claim": {"metadata": {"name": "claim-` + name + `", ` + labels + `}, "spec": {"expireAfter": "Never"}, "status": {"providerID": "p://` + name + `", "nodeName": "` + name + `"}},
   "pods": [` + strings.Join(running, ",") + `]}`
}

func looks(t *testing.T, input string) ([]look, error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := run(context.Background(), []string{"consolidate", "true"}, strings.NewReader(input), &stdout, &stderr)
	var lines []look
	for dec := json.NewDecoder(&stdout); ; {
		var line look
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err == nil && stderr.String() != "planning\n" {
		t.Errorf("said %q", stderr.String())
	}
	return lines, err
}

// The empty node goes first, then two nodes become one, and then there is nothing left to do. Nothing waits for the delay of
// validation.
func TestConsolidate(t *testing.T) {
	input := strings.NewReplacer(
		"BOUGHT", "", "TYPES", instance("small", "4", "0.1")+","+instance("large", "16", "0.5"),
		"NODES", settled("empty", "large", "16")+","+settled("one", "large", "16", "a", "b")+","+settled("two", "large", "16", "c"),
	).Replace(fleet)
	lines, err := looks(t, input)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 3 || !lines[2].Done || lines[0].Done || lines[1].Done || len(lines[2].Steps) > 0 {
		t.Fatalf("%+v", lines)
	}
	first, second := lines[0].Steps[0], lines[1].Steps[0]
	if first.Method != "empty" || !slices.Equal(first.Removed, []string{"empty"}) || len(first.Launched)+len(first.Existing) > 0 {
		t.Errorf("first %+v", first)
	}
	if second.Method != "multi" || len(second.Removed) != 2 || len(second.Existing) > 0 || len(second.Launched) != 1 {
		t.Fatalf("second %+v", second)
	}
	l := second.Launched[0]
	slices.Sort(l.Pods)
	if l.InstanceType != "small" || l.Zone != "a" || l.CapacityType != "on-demand" || l.Pool != "default" || !slices.Equal(l.Pods, []string{"d/a", "d/b", "d/c"}) {
		t.Errorf("launched %+v", l)
	}
	if last := lines[2]; last.CPUSeconds <= 0 || last.WallSeconds > 10*60 || last.CPUSeconds < lines[0].CPUSeconds || last.Timeouts != 0 {
		t.Errorf("took %+v", last.usage)
	}
}

// Pods move to nodes that stay, and a node is bought that its pods' simulation leaves open.
func TestConsolidateOntoOthers(t *testing.T) {
	input := strings.NewReplacer(
		"BOUGHT", "", "TYPES", instance("large", "16", "0.5"),
		"NODES", settled("one", "large", "16", "a", "b")+","+settled("two", "large", "16", "c"),
	).Replace(fleet)
	lines, err := looks(t, input)
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2 || len(lines[0].Steps) != 1 || len(lines[0].Steps[0].Removed) != 1 || len(lines[0].Steps[0].Existing) != 1 || !lines[1].Done {
		t.Fatalf("%+v", lines)
	}
}

// What could be spot is launched as spot. With no spot for sale nothing comes of it, and the search ends all the same.
func TestLaunchThatFails(t *testing.T) {
	input := strings.NewReplacer(
		"BOUGHT", `, "spot"`, "TYPES", instance("small", "4", "0.1")+","+instance("large", "16", "0.5"),
		"NODES", settled("one", "large", "16", "a", "b"),
	).Replace(fleet)
	lines, err := looks(t, input)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if len(line.Steps) > 0 {
			t.Errorf("%+v", line.Steps)
		}
	}
	if len(lines) != maxFruitless {
		t.Errorf("%d looks", len(lines))
	}
}

// A limit that is set within an unhurried context never comes, but what ends the context itself ends it too.
func TestUnhurried(t *testing.T) {
	parent, end := context.WithCancel(context.Background())
	limited, cancel := context.WithTimeout(unhurried{parent}, 0)
	defer cancel()
	if limited.Err() != nil {
		t.Error("the limit came")
	}
	end()
	if <-limited.Done(); limited.Err() == nil {
		t.Error("it goes on")
	}
}

func TestFleetsThatAreRefused(t *testing.T) {
	whole := strings.NewReplacer("BOUGHT", "", "TYPES", instance("large", "16", "0.5"), "NODES", settled("one", "large", "16")).Replace(fleet)
	for name, input := range map[string]string{
		"no pools":       `{}`,
		"a pending pod":  strings.Replace(whole, `"nodes"`, `"pods": [`+pod("p", "1", "")+`], "nodes"`, 1),
		"without claims": strings.Replace(whole, `"claim"`, `"surplus"`, 1),
	} {
		if _, err := looks(t, input); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := run(context.Background(), []string{"consolidate", "perhaps"}, strings.NewReader(whole), io.Discard, io.Discard); err == nil {
		t.Error("perhaps is neither true nor false")
	}
}
