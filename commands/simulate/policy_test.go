package simulate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/commands/simulate/internal/gate"
)

const gateMain, gateChange = "testdata/gate/main.yaml", "testdata/gate/pr.yaml"

// policyFile writes a policy with one rule.
func policyFile(t *testing.T, rules string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(name, []byte("apiVersion: drawknife.dev/v1\nkind: ChangePolicy\nspec: {"+rules+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Each broken rule has its exit status, several have another, and a rule that is kept has none.
func TestPolicyStatus(t *testing.T) {
	for _, test := range []struct {
		name, rules string
		status      int
	}{
		{"nothing is limited enough", "addedCost: {maxPerMonth: 100000}, unplacedPods: {max: 1}", 0},
		{"cost", "addedCost: {maxPercent: 1}", 10},
		{"cost, which also leaves pods without a place", "addedCost: {maxPerMonth: 1}", 10},
		{"unplaced pods", "unplacedPods: {max: 0}", 11},
		{"unplaced pods of others", "unplacedPods: {max: 0, except: [ml/*]}", 0},
		{"spot", "spotShare: {minPercent: 10}", 14},
		{"several", "addedCost: {maxPercent: 1}, unplacedPods: {max: 0}", 16},
		{"a warning", "addedCost: {maxPercent: 1, level: warning}, unplacedPods: {max: 0, level: warning}", 0},
		{"no rule about pods without a place", "drift: {maxNodes: 0}", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := ask(t, "diff", gateMain, gateChange, "--policy", policyFile(t, test.rules)); got.code != test.status || got.stdout == "" {
				t.Errorf("status %d, want %d:\n%s%s", got.code, test.status, got.stdout, got.stderr)
			}
		})
	}
	if got := ask(t, "diff", gateMain, gateChange); got.code != exitUnschedulable {
		t.Errorf("without a policy: status %d", got.code)
	}
}

// Drift and evictions are those of the nodes that a cluster has.
func TestPolicyOnCluster(t *testing.T) {
	args := []string{"testdata/commands/cluster.json", "testdata/commands/pools.yaml", "--now", "2026-01-01T00:00:00Z", "--policy"}
	for rules, status := range map[string]int{"drift: {maxNodes: 0}": 12, "drift: {maxPercent: 100}": 0, "evictions: {maxPods: 0}": 13, "evictions: {maxPercent: 100}": 0, "drift: {maxNodes: 0}, evictions: {maxPods: 0}": 16} {
		if got := ask(t, "diff", append(args, policyFile(t, rules))...); got.code != status {
			t.Errorf("%s: status %d, want %d\n%s%s", rules, got.code, status, got.stdout, got.stderr)
		}
	}
}

// The text names the rule, the limit and the value, and workloads that count; Markdown is for a comment.
func TestPolicyText(t *testing.T) {
	args := []string{gateMain, gateChange, "--policy", "testdata/gate/budget.yaml"}
	text := ask(t, "diff", args...)
	if text.code != gate.StatusSeveral {
		t.Fatalf("status %d: %s", text.code, text.stderr)
	}
	for _, want := range []string{
		"The change breaks 2 of 6 rules of policy shop (testdata/gate/budget.yaml), with 1 warning.", "addedCost.maxPerMonth    at most $100.00 a month", "BROKEN",
		"unplacedPods.max", "at most 0 pods", "Deployment ml/train, 1 pod: ", "Deployment shop/web     changed", "4 to 6", "Deployment shop/report  removed", "1 to 0",
	} {
		if !strings.Contains(text.stdout, want) {
			t.Errorf("no %q in\n%s", want, text.stdout)
		}
	}
	markdown := ask(t, "diff", append(args, "-o", "markdown")...)
	for _, want := range []string{"**The change breaks 2 of 6 rules of policy shop (testdata/gate/budget.yaml), with 1 warning.**", "| RULE | LIMIT | VALUE | RESULT |", "| addedCost.maxPerMonth | at most $100.00 a month |", "| **BROKEN** |"} {
		if !strings.Contains(markdown.stdout, want) {
			t.Errorf("no %q in\n%s", want, markdown.stdout)
		}
	}
}

// One run writes every form, and each is what --output prints.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	args := []string{gateMain, gateChange, "--policy", "testdata/gate/budget.yaml", "-q"}
	all := slices.Clone(args)
	forms := []string{"text", "wide", "markdown", "csv", "json", "yaml", "sarif", "junit"}
	for _, form := range forms {
		all = append(all, "--report", form+"="+filepath.Join(dir, form))
	}
	if got := ask(t, "diff", all...); got.code != gate.StatusSeveral {
		t.Fatalf("status %d: %s", got.code, got.stderr)
	}
	for _, form := range forms {
		file, err := os.ReadFile(filepath.Join(dir, form))
		if err != nil {
			t.Fatal(err)
		}
		if printed := ask(t, "diff", append(slices.Clone(args), "-o", form)...); printed.stdout != string(file) || printed.stdout == "" {
			t.Errorf("%s: the file has\n%s\nprinted is\n%s", form, file, printed.stdout)
		}
	}
	var sarif struct {
		Runs []struct {
			Results []struct {
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "sarif"))
	if err != nil || json.Unmarshal(text, &sarif) != nil || len(sarif.Runs) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	found := false
	for _, r := range sarif.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		found = found || at.ArtifactLocation.URI == gateChange && at.Region.StartLine > 20
	}
	if !found {
		t.Errorf("no result is at the workload: %s", text)
	}
	junit, err := os.ReadFile(filepath.Join(dir, "junit"))
	if err != nil || xml.NewDecoder(bytes.NewReader(junit)).Decode(new(struct{})) != nil || !bytes.Contains(junit, []byte(`<testsuites name="drawknife" tests="6" failures="2" errors="0">`)) {
		t.Errorf("%v: %s", err, junit)
	}
	document := decode[differenceDocument](t, ask(t, "diff", append(args, "-o", "json")...))
	if p := document.Policy; p == nil || p.Status != gate.StatusSeveral || len(p.Rules) != 6 || p.Rules[0].Limits[0].Value == nil || len(document.Workloads) != 3 {
		t.Errorf("%+v", document.Policy)
	}
}

// Bad usage and a bad policy are refused before anything is planned.
func TestPolicyRefused(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"--policy nowhere.yaml", "--policy: open nowhere.yaml"},
		{"--policy testdata/gate/main.yaml", `testdata/gate/main.yaml:1: ChangePolicy: apiVersion: is "karpenter.sh/v1": must be drawknife.dev/v1`},
		{"-o sarif", "--output sarif: prints only the judgement of a policy; use it with diff --policy FILE"},
		{"--report junit=x", "--report junit=x: writes only the judgement of a policy; use it with --policy FILE"},
	} {
		got := ask(t, "diff", append([]string{gateMain, gateChange}, strings.Fields(test.args)...)...)
		if got.code != exitInput || !strings.Contains(got.stderr, test.want) || got.stdout != "" {
			t.Errorf("%s: %+v", test.args, got)
		}
	}
	if got := ask(t, "plan", gateMain, "-o", "junit"); got.code != exitInput || !strings.Contains(got.stderr, "use it with diff --policy FILE") {
		t.Errorf("%+v", got)
	}
	var reports policyReports
	for _, bad := range []string{"x", "xml=a", "json="} {
		if err := reports.Set(bad); err == nil || !strings.Contains(err.Error(), "write FORMAT=FILE") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if reports.Set("json=a") != nil || reports.Set("yaml=a") == nil {
		t.Error("a file is written twice")
	}
	if got := ask(t, "diff", gateMain, gateChange, "--report", "json="+t.TempDir()+"/none/x"); got.code != exitOutput {
		t.Errorf("a folder that does not exist: %+v", got)
	}
}

// The other set may have workloads alone, NodePools alone, or both. Without workloads the pods stay.
func TestDiffOfWorkloads(t *testing.T) {
	write := func(text string) string {
		name := filepath.Join(t.TempDir(), "next.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	main, err := os.ReadFile(gateMain)
	if err != nil {
		t.Fatal(err)
	}
	pool, work, _ := strings.Cut(string(main), "---\n")
	for _, test := range []struct {
		name, next string
		workloads  int
		same       bool
	}{
		{"itself", string(main), 0, true},
		{"its workloads", work, 0, true},
		{"its NodePools", pool, 0, true},
		{"fewer replicas", strings.Replace(work, "replicas: 4", "replicas: 2", 1), 1, false},
		{"none of them", strings.NewReplacer("replicas: 4", "replicas: 0", "replicas: 1", "replicas: 0").Replace(work), 2, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := decode[differenceDocument](t, ask(t, "diff", gateMain, write(test.next), "-o", "json"))
			if len(d.Workloads) != test.workloads || (*d.Summary.HourlyCost == *d.Summary.HourlyCostAfter) != test.same || d.NodePools[0].Change != "unchanged" {
				t.Errorf("%+v, %+v, before %v, after %v", d.Workloads, d.NodePools, *d.Summary.HourlyCost, *d.Summary.HourlyCostAfter)
			}
		})
	}
}
