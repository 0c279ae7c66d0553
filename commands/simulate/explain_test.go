package simulate

import (
	"encoding/json"
	"strings"
	"testing"
)

const explained, running = "testdata/explain.yaml", "testdata/commands/cluster.json"

// What explain says of each kind of object, in words and as a document, is what the golden files have.
func TestExplain(t *testing.T) {
	for _, test := range []struct {
		name, args string
		code       int
	}{
		{"explain-pod", "pod shop/web-0 " + explained, exitPlaced},
		{"explain-pod-stuck", "pod/stuck " + explained, exitUnschedulable},
		{"explain-pod-running", "pod shop/web-a " + running, exitPlaced},
		{"explain-node", "node node-1 " + running, exitPlaced},
		{"explain-nodepool", "nodepool general " + explained, exitPlaced},
		{"explain-nodepool-running", "nodepool default " + running, exitPlaced},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append(strings.Fields(test.args), "--now", "2026-01-01T00:00:00Z")
			text := ask(t, "explain", args...)
			if text.code != test.code {
				t.Fatalf("status %d: %s", text.code, text.stderr)
			}
			golden(t, test.name+".txt", []byte(text.stdout))
			document := ask(t, "explain", append(args, "-o", "json")...)
			if document.code != test.code {
				t.Fatalf("status %d: %s", document.code, document.stderr)
			}
			golden(t, test.name+".json", []byte(document.stdout))
		})
	}
}

// The cost of a rule is the difference between the plans with it and without it, as two runs of plan say it.
func TestExplainedCostIsThatOfAnotherPlan(t *testing.T) {
	var d podExplanation
	if err := json.Unmarshal([]byte(ask(t, "explain", "pod", "shop/web-0", explained, "-o", "json").stdout), &d); err != nil {
		t.Fatal(err)
	}
	with := ask(t, "plan", explained, "-o", "json").plan(t).Summary.HourlyCost
	without := ask(t, "plan", "testdata/explain-without.yaml", "-o", "json").plan(t).Summary.HourlyCost
	for _, r := range d.Rules {
		if r.Kind == "PodAntiAffinity" {
			if want := roundDollars(with - without); r.Saving != want || want <= 0 {
				t.Errorf("anti-affinity costs %v, and plans differ by %v", r.Saving, want)
			}
			return
		}
	}
	t.Errorf("no anti-affinity among %+v", d.Rules)
}

// The shares of a node and what is idle add up to its price.
func TestSharesAddUp(t *testing.T) {
	var d nodeExplanation
	if err := json.Unmarshal([]byte(ask(t, "explain", "node", "node-2", running, "-o", "json").stdout), &d); err != nil {
		t.Fatal(err)
	}
	sum := *d.Idle.HourlyCost
	for _, w := range d.Workloads {
		sum += *w.HourlyCost
	}
	if len(d.Workloads) == 0 || roundDollars(sum) != *d.Price {
		t.Errorf("%v of %v: %+v", sum, *d.Price, d)
	}
}

// --max-plans bounds the work, and says what was not looked at.
func TestExplainIsBounded(t *testing.T) {
	got := ask(t, "explain", "pod", "web", explained, "--max-plans", "1")
	if !strings.Contains(got.stdout, "2 plans made.") || !strings.Contains(got.stdout, "more rules not looked at") || !strings.Contains(got.stderr, "web is a workload") {
		t.Errorf("%s%s", got.stderr, got.stdout)
	}
}

func TestExplainRefusals(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"", "needs the kind and the name"},
		{"pod", "needs the kind and the name"},
		{"pod/", "needs the kind and the name"},
		{"service web " + explained, `"service" is not a kind that explain knows`},
		{"pod web --max-plans -1 " + explained, "--max-plans -1"},
		{"pod nobody " + explained, "the input has no pod and no workload nobody: it has 5 pods pending"},
		{"node nobody " + running, "the input has no node nobody, but 2 nodes: node-1, node-2"},
		{"nodepool nobody " + explained, "the input has no NodePool nobody, only general"},
	} {
		if got := ask(t, "explain", strings.Fields(test.args)...); got.code != exitInput || !strings.Contains(got.stderr, test.want) || got.stdout != "" {
			t.Errorf("%s: status %d: %s%s", test.args, got.code, got.stderr, got.stdout)
		}
	}
}
