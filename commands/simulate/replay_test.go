package simulate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplayTrace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	d := both[replayDocument](t, "replay", exitPlaced, func(d *replayDocument) { d.Series, d.Packing = d.Series[:3], d.Packing[:1] },
		"testdata/fleet/cluster.yaml", "--catalog", smallCatalog, "--now", "2026-05-04T10:00:00Z",
		"--replay", "testdata/trace.csv", "--replay-for", "6h", "--spot-interruptions", "0", "--html", page)
	if d.Pods != 26 || d.Unplaced != 0 || d.Cost <= 0 || d.PendingSeconds["max"] <= 0 || len(d.Series) < 300 {
		t.Errorf("%d pods, %d unplaced, $%v, %v, %d points", d.Pods, d.Unplaced, d.Cost, d.PendingSeconds, len(d.Series))
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "drawknife replay of trace.csv") {
		t.Errorf("the page: %v", err)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"no such file", []string{"--replay", "testdata/none.csv"}},
		{"no column", []string{"--replay", "testdata/deployment.yaml"}},
		{"give only one of them", []string{"--replay", "x", "--consolidate"}},
		{"negative", []string{"--replay", "x", "--replay-for", "-1h"}},
	} {
		if a := simulate(t, "", append(c.args, "--catalog", smallCatalog)...); a.code != exitInput || !strings.Contains(a.stderr, c.says) {
			t.Errorf("%v: %d, %s", c.args, a.code, a.stderr)
		}
	}
}

// What a command has to be worth in a replay is the user's to say, setting by setting, and so is how often it is looked for one.
func TestReplayThresholds(t *testing.T) {
	pool := filepath.Join(t.TempDir(), "pool.yaml")
	if err := os.WriteFile(pool, []byte(replayPool), 0o600); err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace.csv")
	var b strings.Builder
	b.WriteString("name,arrival,departure,cpu,memory\n")
	for i := range 150 { // some nodes can do without their last pods
		fmt.Fprintf(&b, "p-%d,%dm,%dm,%dm,1Gi\n", i, i, i+60+i*37%400, 500+i%7*250)
	}
	b.WriteString("stays,0,,500m,1Gi\n") // on a large node, which a small one can replace once the others are gone
	for i := range 12 {
		fmt.Fprintf(&b, "goes-%d,0,70m,1,1Gi\n", i)
	}
	if err := os.WriteFile(trace, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	replayed := func(args ...string) replayDocument {
		return decode[replayDocument](t, simulate(t, "", append([]string{
			pool, "--catalog", smallCatalog, "--now", "2026-05-04T10:00:00Z", "-o", "json", "--replay", trace, "--replay-for", "10h",
		}, args...)...))
	}
	usual, off := replayed(), replayed("--consolidate-every", "0")
	if usual.EvictionsByPlan == 0 || off.EvictionsByPlan != 0 || off.Cost <= usual.Cost {
		t.Fatalf("%d evictions at $%v, without consolidation %d at $%v", usual.EvictionsByPlan, usual.Cost, off.EvictionsByPlan, off.Cost)
	}
	for _, c := range [][]string{
		{"--disruption-pay-back", "1s"},
		{"--disruption-min-saving", "1000"},
		{"--disruption-min-saving-share", "0.999"},
		{"--disruption-price", "1000"},
		{"--disruption-cool-down", "24h"},
	} {
		if strict := replayed(c...); strict.EvictionsByPlan >= usual.EvictionsByPlan {
			t.Errorf("%v: %d evictions, %d by default", c, strict.EvictionsByPlan, usual.EvictionsByPlan)
		}
	}
}

const replayPool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: kubernetes.io/os, operator: In, values: [linux]}
`

// What a replay says of money is marked where prices are estimates, and what is assumed stands on its page too.
func TestReplayEstimates(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	spot := strings.ReplaceAll(singapore(t, "t3.medium"), "values: [on-demand]", "values: [spot]")
	args := []string{"-", "--replay", "testdata/trace.csv", "--replay-for", "1h", "--html", page}
	a := simulate(t, spot, args...)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.stdout, "\n~$") || !strings.Contains(a.stdout, ", ~$") {
		t.Errorf("no marks in\n%s%s", a.stdout, a.stderr)
	}
	for _, want := range []string{">~$", ">~$0.", "Assumed: region ap-southeast-1"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if d := decode[replayDocument](t, simulate(t, spot, append(args, "-o", "json")...)); d.Estimated != d.Launches || d.Launches == 0 || !d.Packing[0].PriceEstimated {
		t.Errorf("%d of %d launches are estimated", d.Estimated, d.Launches)
	}
	if a := simulate(t, singapore(t, "t3.medium"), args...); strings.Contains(a.stdout, "~$") {
		t.Errorf("marks of known prices:\n%s", a.stdout)
	}
}
