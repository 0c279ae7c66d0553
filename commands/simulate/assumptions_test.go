package simulate

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// singapore is a cluster of another region, with the type of its first node replaced.
func singapore(t *testing.T, instanceType string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/regions/singapore.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(text), "t3.medium", instanceType, 1)
}

// A cluster of another region is priced by that region, in the zones of its nodes, and the answer itself says what it assumes,
// as text and as JSON.
func TestAnotherRegion(t *testing.T) {
	const move = "--replace-nodes=eks.amazonaws.com/nodegroup"
	a := simulate(t, singapore(t, "t3.medium"), "-", move)
	if notes := strings.Split(strings.TrimSpace(a.stderr), "\n"); a.code != exitPlaced || len(notes) != 1 || !strings.Contains(notes[0], "note: images are assumed") {
		t.Fatalf("status %d: %s", a.code, a.stderr)
	}
	for _, want := range []string{
		"in place of 2 nodes at $0.1056/h\n", "Assumed:\n", "region ap-southeast-1 (from the nodes), zones ap-southeast-1a, ap-southeast-1c (those of the nodes)",
		"built-in price snapshot of all regions, 2025-05-28",
	} {
		if !strings.Contains(a.stdout, want) {
			t.Errorf("no %q in\n%s", want, a.stdout)
		}
	}
	if strings.Contains(a.stdout, "us-east-1a") || strings.Contains(a.stdout, "$0.0000") {
		t.Errorf("a node of another region, or for nothing:\n%s", a.stdout)
	}
	d := simulate(t, singapore(t, "t3.medium"), "-", move, "-o", "json").plan(t)
	if len(d.Assumptions) != 3 || *d.Summary.ReplacedCost != 0.1056 || d.Summary.ReplacedUnpriced != 0 {
		t.Errorf("assumptions %q, %+v", d.Assumptions, d.Summary)
	}
	for _, n := range d.Nodes {
		if !strings.HasPrefix(n.Zone, "ap-southeast-1") || n.PriceEstimated || n.Price <= 0 {
			t.Errorf("node %+v", n)
		}
	}
	saved := t.TempDir() + "/snapshot.yaml"
	if a := simulate(t, singapore(t, "t3.medium"), "-", move, "--save-snapshot", saved); a.code != exitPlaced {
		t.Fatalf("status %d: %s", a.code, a.stderr)
	}
	again := simulate(t, "", "--snapshot", saved, move, "-o", "json").plan(t)
	if diff := cmp.Diff(d.Assumptions, again.Assumptions); diff != "" {
		t.Errorf("what is assumed is lost in a replay (-first +again):\n%s", diff)
	}
	for _, args := range [][]string{{"--consolidate"}, {"--diff", "testdata/regions/singapore.yaml"}} {
		if a := simulate(t, singapore(t, "t3.medium"), append([]string{"-"}, args...)...); !strings.Contains(a.stdout, "Assumed:\n  region ap-southeast-1") {
			t.Errorf("%v: status %d\n%s%s", args, a.code, a.stdout, a.stderr)
		}
	}
}

// What is estimated, what is not known, and what a flag says are told apart.
func TestPricesOfReplacedNodes(t *testing.T) {
	for name, c := range map[string]struct{ input, want string }{
		"newer than the prices of the region": {singapore(t, "c8i.large"), "in place of 2 nodes at ~$0."},
		"a type that nobody knows":            {singapore(t, "z9.huge"), "in place of 2 nodes (1 of them at $0.0528/h, 1 at an unknown price)"},
		"nothing but such types":              {strings.ReplaceAll(singapore(t, "z9.huge"), "t3.medium", "z9.huge"), "in place of 2 nodes at an unknown price\n"},
	} {
		a := simulate(t, c.input, "-", "--replace-nodes=eks.amazonaws.com/nodegroup")
		if !strings.Contains(a.stdout, c.want) || strings.Contains(a.stdout, "$0.0000") {
			t.Errorf("%s: no %q in\n%s%s", name, c.want, a.stdout, a.stderr)
		}
	}
	none := simulate(t, strings.ReplaceAll(singapore(t, "z9.huge"), "t3.medium", "z9.huge"), "-", "--replace-nodes=eks.amazonaws.com/nodegroup", "-o", "json").plan(t)
	if none.Summary.ReplacedCost != nil || none.Summary.ReplacedUnpriced != 2 {
		t.Errorf("summary %+v", none.Summary)
	}
}

// --region plans for a region that no node names; its zones are a guess unless they are given.
func TestRegionFlag(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--region", "eu-west-1"}, "region eu-west-1 (from --region), zones eu-west-1a, eu-west-1b, eu-west-1c (a guess: no node says, name them with --zones)"},
		{[]string{"--region", "eu-west-1", "--zones", "eu-west-1b"}, "zones eu-west-1b (those of the nodes and of --zones)"},
		{[]string{"--region", "cn-north-1"}, "no price of cn-north-1 is built in"},
	} {
		a := simulate(t, pod, append([]string{"-"}, c.args...)...)
		if a.code != exitPlaced || !strings.Contains(a.stdout, c.want) {
			t.Errorf("%v: status %d, no %q in\n%s%s", c.args, a.code, c.want, a.stdout, a.stderr)
		}
	}
	if a := simulate(t, pod, "-", "--region", "us-east-1"); a.code != exitPlaced || strings.Contains(a.stdout, "Assumed") {
		t.Errorf("the built-in region: %s%s", a.stdout, a.stderr)
	}
}
