package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// commitmentsFile is the file of an account, with two m7i.2xlarge under a Savings Plan.
const commitmentsFile = `schema: drawknife-commitments/1
commitments:
- {id: sp/1, kind: ComputeSavingsPlan, source: contract, amount: 0.6, unit: USD/h, byType: {m7i.2xlarge: 0.3}}
- {id: sp/ended, kind: ComputeSavingsPlan, source: contract, amount: 9, unit: USD/h, byType: {m7i.2xlarge: 0.3}, end: "2020-01-01T00:00:00Z"}
- {id: ri/elsewhere, kind: ReservedInstances, source: contract, amount: 8, unit: normalized units, byType: {m7i.2xlarge: 16}, foreign: 8}
discounts:
- {name: EDP, source: contract, percent: 10}
leftOut: ["reservation r-1 is for Windows"]
`

// The plan uses what is paid for, shows it, and says what it can't count on.
func TestCommitmentsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "commitments.yaml")
	if err := os.WriteFile(file, []byte(commitmentsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--catalog", smallCatalog, "testdata/constraints/class.yaml", "testdata/constraints/pool.yaml", "testdata/constraints/ondemand.yaml", "--commitments", file}
	d := simulate(t, "", append(args, "-o", "json")...).plan(t)
	covered := 0
	for _, node := range d.Nodes {
		for _, term := range node.PriceTerms {
			if term.Name == "commitment sp/1" && term.Covered == 1 && node.InstanceType == "m7i.2xlarge" && node.Price == 0 {
				covered++
			}
		}
	}
	if len(d.Commitments) != 1 || d.Commitments[0].Name != "commitment sp/1" || d.Commitments[0].Planned != 0.6 || covered != 2 {
		t.Errorf("%d nodes are covered; commitments %+v", covered, d.Commitments)
	}
	var notes []string
	for _, n := range d.Notes {
		if n.Code == "Commitments" {
			notes = append(notes, n.Message)
		}
	}
	want := []string{
		"commitment sp/ended ended at 2020-01-01T00:00:00Z: it covers no node",
		"instances outside of the input use all 8 normalized units of commitment ri/elsewhere: it covers no node",
		"reservation r-1 is for Windows",
	}
	if strings.Join(notes, "\n") != strings.Join(want, "\n") {
		t.Errorf("notes %q, want %q", notes, want)
	}
	if text := simulate(t, "", args...).stdout; !strings.Contains(text, "COMMITMENT") || !strings.Contains(text, "commitment sp/1") {
		t.Errorf("the text has no table of commitments:\n%s", text)
	}
}

// A file that can't be used is refused, with its name and what to do.
func TestCommitmentsFileErrors(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"no schema": {"commitments: []\n", `commitments: schema is "": it must be "drawknife-commitments/1"`},
		"no amount": {"schema: drawknife-commitments/1\ncommitments: [{id: a, kind: ComputeSavingsPlan, source: s, unit: USD/h, byType: {m5.large: 1}}]\n", "commitments[0].amount"},
		"none":      {"", "no such file"},
	} {
		file := filepath.Join(dir, name)
		if name != "none" {
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := simulate(t, "", "--catalog", smallCatalog, "testdata/constraints/class.yaml", "testdata/constraints/pool.yaml", "testdata/constraints/ondemand.yaml", "--commitments", file)
		if got.code == 0 || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%s: status %d, %s", name, got.code, got.stderr)
		}
	}
}

// The JSON has how the limits of workloads on spot nodes are kept.
func TestSpotSplitsInJSON(t *testing.T) {
	const workload = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {drawknife.dev/spot-max-share: 50%}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
`
	d := simulate(t, workload, "-o", "json", "--catalog", smallCatalog, "testdata/constraints/class.yaml", "testdata/constraints/pool.yaml", "-").plan(t)
	if len(d.SpotSplits) != 1 {
		t.Fatalf("splits %+v", d.SpotSplits)
	}
	s := d.SpotSplits[0]
	if !strings.Contains(s.Workload, "default/web") || s.Pods != 4 || s.MostOnSpot != 2 || len(s.OffSpot) != 2 || len(s.Parts) != 1 || len(s.Parts[0].Pods) != 2 || !s.Parts[0].Any {
		t.Errorf("split %+v", s)
	}
}
