package simulate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/commands/simulate/internal/jsonstream"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/examples/settings"
)

// fleet is the cluster of the tests below, at a time at which its nodes have been quiet for long.
func fleet(more ...string) []string {
	return append([]string{"testdata/fleet", "--now", "2026-05-04T10:00:00Z"}, more...)
}

// decode reads the output of -o json strictly.
func decode[T any](t *testing.T, a answer) T {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(a.stdout))
	decoder.DisallowUnknownFields()
	var d T
	if err := decoder.Decode(&d); err != nil {
		t.Fatalf("standard output: %v\n%s%s", err, a.stdout, a.stderr)
	}
	return d
}

// both runs a command line for text and for JSON and compares both with their golden files, the JSON as shortened.
func both[T any](t *testing.T, name string, code int, shorten func(*T), args ...string) T {
	t.Helper()
	text := simulate(t, "", args...)
	if text.code != code {
		t.Errorf("exit status %d, want %d: %s", text.code, code, text.stderr)
	}
	golden(t, name+".txt", []byte(timeless(text.stdout)))
	asJSON := simulate(t, "", append(slices.Clone(args), "-o", "json")...)
	if asJSON.code != code || asJSON.stderr != text.stderr {
		t.Errorf("json: exit status %d, standard error %q, as text %q", asJSON.code, asJSON.stderr, text.stderr)
	}
	d := decode[T](t, asJSON)
	short := decode[T](t, asJSON)
	if shorten != nil {
		shorten(&short)
	}
	var b bytes.Buffer
	if err := jsonstream.Write(&b, short); err != nil {
		t.Fatal(err)
	}
	golden(t, name+".json", []byte(timeless(b.String())))
	return d
}

// shortenConsolidation leaves the first three instance types of each launch, and no floor prices: their last digits depend on
// how a processor rounds.
func shortenConsolidation(d *consolidationDocument) {
	d.FloorPrices = d.FloorPrices[:0]
	for i := range d.Commands {
		for k := range d.Commands[i].Launches {
			l := &d.Commands[i].Launches[k]
			l.InstanceTypes = l.InstanceTypes[:min(3, len(l.InstanceTypes))]
		}
	}
}

func TestConsolidate(t *testing.T) {
	for _, planner := range []string{"global", "reference"} {
		t.Run(planner, func(t *testing.T) {
			d := both(t, "consolidate-"+planner, exitPlaced, shortenConsolidation, fleet("--consolidate", "--planner", planner)...)
			savings, evictions, gone := 0.0, 0, 0
			for _, c := range d.Commands {
				savings, evictions, gone = savings+*c.Savings, evictions+len(c.Pods), gone+len(c.Nodes)
			}
			s := d.Summary
			if s.Savings <= 0 || roundDollars(savings) != s.Savings || roundDollars(*s.HourlyCost-s.Savings) != *s.HourlyCostAfter ||
				s.Evictions != evictions || s.Removed+s.Replaced != gone {
				t.Errorf("the summary is not that of the commands: %+v", s)
			}
			if len(d.Nodes) != s.Nodes || s.Nodes == 0 {
				t.Errorf("%d of %d nodes are told of; those of no pool stay for a reason too", len(d.Nodes), s.Nodes)
			}
			for _, n := range d.Nodes {
				if (n.Outcome == "kept") == (n.Command != "") {
					t.Errorf("%s: %s by command %q", n.Name, n.Outcome, n.Command)
				}
				if n.Outcome == "kept" && len(n.Reasons) == 0 {
					t.Errorf("%s stays without a reason", n.Name)
				}
			}
		})
	}
}

// What a command has to be worth is the user's to say, by the names of the controller's settings, which --help has all of.
func TestConsolidateByFlags(t *testing.T) {
	plan := func(more ...string) consolidationDocument {
		t.Helper()
		return decode[consolidationDocument](t, simulate(t, "", fleet(append([]string{"--consolidate", "-o", "json"}, more...)...)...))
	}
	free, none := plan(), plan("--disruption-min-saving", "1000")
	if len(free.Commands) == 0 || len(none.Commands) != 1 || none.Commands[0].Reason != "Empty" ||
		!strings.Contains(fmt.Sprint(none.Nodes), "would save 0.1632 USD/h, and has to save 1000.0000") {
		t.Errorf("%d commands, with --disruption-min-saving %d: %+v", len(free.Commands), len(none.Commands), none.Nodes)
	}
	late := plan("--disruption-validation-delay", "2m")
	if len(late.Commands) == 0 || !late.Commands[0].NotBefore.Equal(time.Date(2026, 5, 4, 10, 2, 0, 0, time.UTC)) {
		t.Errorf("with --disruption-validation-delay: %+v", late.Commands)
	}
	one := plan("--disruption-robustness", "5", "--disruption-price", "1")
	if len(one.Commands) >= len(free.Commands) {
		t.Errorf("at $1 a pod as many commands as for nothing: %d", len(one.Commands))
	}
	all, _ := settings.DisruptionFlags(settings.PlannerGlobal)
	for _, name := range all {
		if !strings.Contains(helpText, "--"+name+" ") {
			t.Errorf("--help is silent on --%s", name)
		}
	}
}

// Nodes that are listed without NodeClaims are planned with all the same.
func TestConsolidateWithoutNodeClaims(t *testing.T) {
	a := simulate(t, "", "--consolidate", "-o", "json")
	if d := decode[consolidationDocument](t, a); d.Summary.Candidates != 2 || !strings.Contains(a.stderr, "no NodeClaim") {
		t.Errorf("%d candidates; %s", d.Summary.Candidates, a.stderr)
	}
	empty := simulate(t, "", "--consolidate", "testdata/deployment.yaml", "--catalog", smallCatalog)
	if empty.code != exitPlaced || !strings.Contains(empty.stdout, "Nothing to remove") || !strings.Contains(empty.stderr, "no Node") {
		t.Errorf("without nodes: %d, %s%s", empty.code, empty.stdout, empty.stderr)
	}
}

// Since when such a node is there, and quiet, its own times and those of its pods say: not when they were listed.
func TestConsolidateWithoutNodeClaimsByAge(t *testing.T) {
	const cluster = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  disruption: {consolidateAfter: 30m}
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
---
apiVersion: v1
kind: Node
metadata:
  name: large
  creationTimestamp: CREATED
  labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: m5.4xlarge, topology.kubernetes.io/zone: us-east-1a,
    karpenter.sh/capacity-type: on-demand, kubernetes.io/arch: amd64, kubernetes.io/os: linux, kubernetes.io/hostname: large}
status:
  allocatable: {cpu: "15", memory: 58Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  nodeName: large
  containers: [{name: c, resources: {requests: {cpu: "1", memory: 1Gi}}}]
status: {phase: Running, startTime: STARTED}
`
	for name, c := range map[string]struct {
		created, started string
		replaced         int
		code             string
	}{
		"long there, long quiet": {`"2026-05-04T08:00:00Z"`, `"2026-05-04T08:01:00Z"`, 1, ""},
		"nobody says when":       {"null", "null", 1, ""},
		"a pod came lately":      {`"2026-05-04T08:00:00Z"`, `"2026-05-04T09:45:00Z"`, 0, "ConsolidateAfter"},
		"new":                    {`"2026-05-04T09:55:00Z"`, "null", 0, "ConsolidateAfter"},
	} {
		t.Run(name, func(t *testing.T) {
			input := strings.NewReplacer("CREATED", c.created, "STARTED", c.started).Replace(cluster)
			d := decode[consolidationDocument](t, simulate(t, input, "-", "--consolidate", "--now", "2026-05-04T10:00:00Z", "-o", "json"))
			if d.Summary.Replaced != c.replaced || len(d.Nodes) != 1 {
				t.Fatalf("%+v, %+v", d.Summary, d.Nodes)
			}
			if reasons := d.Nodes[0].Reasons; c.code != "" && (len(reasons) == 0 || string(reasons[len(reasons)-1].Code) != c.code) {
				t.Errorf("it stays for %+v, want %s", reasons, c.code)
			}
		})
	}
}

// Pods that wait are told of, since they bear on what can go; a fleet that has to be replaced may cost more.
func TestConsolidateWithPodsWaiting(t *testing.T) {
	const waiting = `
apiVersion: v1
kind: Pod
metadata: {name: huge, namespace: shop}
spec:
  containers: [{name: c, resources: {requests: {cpu: "500"}}}]
`
	a := simulate(t, waiting, fleet("-", "--consolidate")...)
	if a.code != exitPlaced || !strings.Contains(a.stderr, "1 pod without a node") {
		t.Errorf("status %d: %s", a.code, a.stderr)
	}
	if b := simulate(t, "", fleet("--consolidate")...); strings.Contains(b.stderr, "without a node") || a.stdout == "" {
		t.Errorf("no pod waits: %s", b.stderr)
	}
	var text strings.Builder
	costlier := consolidationText{plan: &disruption.Plan{}, result: consolidation{before: nodeCost{nodes: 2, cost: 1}, after: nodeCost{nodes: 1, cost: 1.25}}}
	costlier.document.Summary = consolidationSummary{Savings: -0.25, Replaced: 2, Launched: 1, Evictions: 3}
	costlier.writeSaving(&text)
	for _, want := range []string{"0 nodes removed, 2 replaced by 1; 3 evictions of pods.", "$1.2500/h instead of $1.0000/h: $0.2500/h more (25.0%), $182.50 a month"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q lacks %q", text.String(), want)
		}
	}
}

// That new nodes for a node's pods would not be cheaper can be checked with nothing but the output.
func TestConsolidateProofs(t *testing.T) {
	const cluster = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
---
apiVersion: v1
kind: Node
metadata:
  name: large
  labels: {karpenter.sh/nodepool: default, node.kubernetes.io/instance-type: c7g.4xlarge, topology.kubernetes.io/zone: us-east-1a,
    karpenter.sh/capacity-type: spot, kubernetes.io/arch: arm64, kubernetes.io/os: linux, kubernetes.io/hostname: large}
status:
  allocatable: {cpu: 15890m, memory: 28Gi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec:
  nodeName: large
  containers: [{name: c, resources: {requests: {cpu: "15", memory: 1Gi}}}]
status: {phase: Running}
`
	d := decode[consolidationDocument](t, simulate(t, cluster, "-", "--consolidate", "--spot-to-spot", "--catalog", smallCatalog, "-o", "json"))
	if len(d.Nodes) != 1 {
		t.Fatalf("nodes %+v", d.Nodes)
	}
	proofs := 0
	for _, reason := range d.Nodes[0].Reasons {
		proof := reason.Block.Proof
		if proof == nil {
			continue
		}
		proofs++
		if proof.Prices >= len(d.FloorPrices) {
			t.Fatalf("prices %d of %d", proof.Prices, len(d.FloorPrices))
		}
		worth := d.FloorPrices[proof.Prices].Worth(proof.Demand)
		for _, homeless := range proof.Homeless {
			worth = max(worth, homeless.Cheapest)
		}
		if proof.Floor <= 0 || proof.Floor > worth+1e-9 || *d.Nodes[0].Price-proof.Floor > reason.Block.Required {
			t.Errorf("floor %g USD/h, worth %g, of %g; %g would have to be saved", proof.Floor, worth, *d.Nodes[0].Price, reason.Block.Required)
		}
	}
	if proofs == 0 {
		t.Errorf("no proofs: %+v", d.Nodes[0].Reasons)
	}
}

func TestDiff(t *testing.T) {
	d := both[differenceDocument](t, "diff", exitPlaced, nil, fleet("--diff", "testdata/otherpools.yaml")...)
	if s := d.Summary; s.Nodes != 6 || s.Replaced != len(d.Nodes) || *s.HourlyCostAfter >= *s.HourlyCost {
		t.Errorf("summary %+v", s)
	}
	same := decode[differenceDocument](t, simulate(t, "", fleet("--diff", "testdata/fleet", "-o", "json")...))
	if s := same.Summary; s.Replaced != 0 || *s.HourlyCost != *s.HourlyCostAfter {
		t.Errorf("the same pools: %+v", s)
	}
	for _, p := range same.NodePools {
		if p.Change != "unchanged" || len(p.Fields) > 0 {
			t.Errorf("the same pools: %+v", p)
		}
	}
	if a := simulate(t, "", fleet("--diff", "testdata/gate/budget.yaml")...); a.code != exitInput || !strings.Contains(a.stderr, "has no NodePool") {
		t.Errorf("a file without pools and workloads: %d, %s", a.code, a.stderr)
	}
}

func TestReplaceNodes(t *testing.T) {
	d := checkRun(t, runCase{name: "replace-nodes", args: fleet("--replace-nodes", "eks.amazonaws.com/nodegroup=system")})
	if d.Summary.Pods != 1 || d.Summary.ExistingNodes != 5 || *d.Summary.ReplacedNodes != 1 || *d.Summary.ReplacedCost <= 0 {
		t.Errorf("summary %+v", d.Summary)
	}
}

// A selector that no node meets is a slip: nothing is planned, and what was meant is found in the error.
func TestReplaceNoNodes(t *testing.T) {
	const none = "simulate: --replace-nodes %s: no node of the input (6) has such labels: %s\n"
	for _, c := range []struct{ selector, says string }{
		{"no=such", "none has the label no"},
		{"eks.amazonaws.com/nodegrup=system", "none has the label eks.amazonaws.com/nodegrup; did you mean eks.amazonaws.com/nodegroup?"},
		{"nodegroup", "none has the label nodegroup; did you mean eks.amazonaws.com/nodegroup?"},
		{"eks.amazonaws.com/nodegroup=sistem", `eks.amazonaws.com/nodegroup is "system"`},
		{"eks.amazonaws.com/nodegroup in (blue,sistem)", `eks.amazonaws.com/nodegroup is "system"`},
		{"kubernetes.io/os!=linux", `kubernetes.io/os is "linux"`},
		{"!kubernetes.io/os", `kubernetes.io/os is "linux"`},
		{"eks.amazonaws.com/nodegroup,karpenter.sh/nodepool", "some meet each part of it, and none meets all"},
	} {
		a := simulate(t, "", fleet("--replace-nodes", c.selector)...)
		if want := fmt.Sprintf(none, c.selector, c.says); a.code != exitInput || a.stdout != "" || !strings.HasSuffix(a.stderr, want) {
			t.Errorf("%s: %d, %s, want %s", c.selector, a.code, a.stderr, want)
		}
	}
	if a := simulate(t, "", "testdata/deployment.yaml", "--replace-nodes", "a=b"); a.code != exitInput || !strings.Contains(a.stderr, "--replace-nodes a=b: the input has no Node") {
		t.Errorf("no nodes: %d, %s", a.code, a.stderr)
	}
}

// The values that may have been meant come first, and not all that there are.
func TestReplaceNoNodesOfMany(t *testing.T) {
	selector, err := parseNodeSelector("--replace-nodes", "group=whote")
	if err != nil {
		t.Fatal(err)
	}
	e := &noSuchNodesError{flag: "--replace-nodes", selector: selector}
	for _, group := range []string{"black", "blue", "cyan", "green", "orange", "red", "white"} {
		e.nodes = append(e.nodes, map[string]string{"group": group})
	}
	if want := `group is "white", "black", "blue", "cyan", "green" or 2 other values`; !strings.HasSuffix(e.Error(), want) {
		t.Errorf("%v, want %s", e, want)
	}
}

// Flags that do not go together are refused.
func TestConsolidateOptions(t *testing.T) {
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--planner", []string{"--planner", "reference"}},
		{"not one of", []string{"--consolidate", "--planner", "best"}},
		{"--spot-to-spot", []string{"--spot-to-spot"}},
		{"give only one of them", []string{"--consolidate", "--diff", "x"}},
		{"--certificate", []string{"--consolidate", "--certificate", "x"}},
		{"name of a file", []string{"--diff", ""}},
		{"--replace-nodes", []string{"--replace-nodes", "a in"}},
		{"needs a label selector", []string{"--replace-nodes", ""}},
		{"leave out --diff", []string{"--snapshot", "x", "--diff", "y"}},
	} {
		if a := simulate(t, "", c.args...); a.code != exitInput || !strings.Contains(a.stderr, c.says) {
			t.Errorf("%v: %d, %s", c.args, a.code, a.stderr)
		}
	}
}
