package clusterreport_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
)

// A program reads a report and lists the nodes.
func Example() {
	answer := `{"apiVersion": "drawknife.dev/v1", "kind": "ClusterReport", "leader": true, "nodes": [
		{"name": "node-1", "state": "ready", "allocatable": {"cpu": 4, "memory": 8e9}, "requested": {"cpu": 1, "memory": 6e9}},
		{"name": "node-2", "state": "draining", "allocatable": {"cpu": 4, "memory": 8e9}, "requested": {"cpu": 0, "memory": 0}}]}`
	var report clusterreport.Report
	if err := json.Unmarshal([]byte(answer), &report); err != nil {
		fmt.Println(err)
		return
	}
	for _, node := range report.ByUse() {
		fmt.Printf("%s is %s and %.0f%% full\n", node.Name, node.State, 100*node.Use())
	}
	// Output:
	// node-2 is draining and 0% full
	// node-1 is ready and 75% full
}

func TestByUse(t *testing.T) {
	node := func(name string, state clusterreport.NodeState, cpu float64) clusterreport.Node {
		return clusterreport.Node{Name: name, State: state, Allocatable: clusterreport.Amounts{CPU: 4}, Requested: clusterreport.Amounts{CPU: cpu}}
	}
	report := clusterreport.Report{Nodes: []clusterreport.Node{
		node("empty", "ready", 0), node("full", "ready", 4), node("half-b", "ready", 2), node("half-a", "ready", 2), node("new", "launching", 0), node("late", "notReady", 3),
	}}
	var got []string
	for _, n := range report.ByUse() {
		got = append(got, n.Name)
	}
	if diff := cmp.Diff([]string{"late", "new", "full", "half-a", "half-b", "empty"}, got); diff != "" {
		t.Error(diff)
	}
	if report.Nodes[0].Name != "empty" {
		t.Error("the report has changed")
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct{ requested, allocatable, want float64 }{
		{1, 4, 0.25}, {5, 4, 1}, {0, 4, 0}, {1, 0, 0}, {-1, 4, 0}, {1, -4, 0}, {math.NaN(), 4, 0}, {1, math.NaN(), 0},
	} {
		if got := clusterreport.Share(c.requested, c.allocatable); got != c.want {
			t.Errorf("Share(%v, %v) is %v, want %v", c.requested, c.allocatable, got, c.want)
		}
	}
}

func TestReplacementString(t *testing.T) {
	for want, r := range map[string]clusterreport.Replacement{
		"m7g.large spot in zone-a": {NodePool: "default", InstanceType: "m7g.large", Zone: "zone-a", CapacityType: "spot"},
		"a node of static":         {NodePool: "static"},
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
