package simulate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where an interruption costs much, the plan takes spot nodes that are interrupted less often, says so, and has the terms in its prices.
func TestSpotRisk(t *testing.T) {
	plain := simulate(t, "", "-o", "json").plan(t)
	plan := simulate(t, "", "-o", "json", "--spot-risk", "per-node=50").plan(t)
	terms := map[string]int{}
	spot := 0
	for _, n := range plan.Nodes {
		if n.CapacityType == "spot" {
			spot++
		}
		for _, term := range n.PriceTerms {
			terms[term.Name]++
		}
	}
	if terms["spot interruptions"] != spot || spot == 0 || terms["spot price level"] != 0 {
		t.Errorf("%d spot nodes, terms %v", spot, terms)
	}
	if plan.Summary.HourlyCost <= plain.Summary.HourlyCost {
		t.Errorf("%v with interruptions, %v without", plan.Summary.HourlyCost, plain.Summary.HourlyCost)
	}
	said := 0
	for _, n := range plan.Notes {
		if n.Code == "SpotRisk" && strings.Contains(n.Message, " beats ") && strings.Contains(n.Message, "times as often") {
			said++
		}
	}
	if said == 0 {
		t.Errorf("no note says what was passed over: %+v", plan.Notes)
	}
}

// Prices that were seen raise the expected price of one that is low for a moment.
func TestSpotHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.json")
	text := `{"schema": "drawknife-spot-history/1", "markets": [{"instanceType": "m6g.xlarge", "zone": "us-east-1a", "price": 0.0471, "priceAt": "2026-01-01T00:00:00Z", "level": 0.12}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-o", "json", "--now", "2026-01-01T00:00:00Z", "--spot-risk", "default"}
	inThatZone := func(args ...string) (n int) {
		for _, node := range simulate(t, "", args...).plan(t).Nodes {
			if node.InstanceType == "m6g.xlarge" && node.Zone == "us-east-1a" && node.CapacityType == "spot" {
				n++
			}
		}
		return n
	}
	if before, after := inThatZone(args...), inThatZone(append(args, "--spot-history", file)...); before == 0 || after != 0 {
		t.Errorf("%d nodes in the market without its history, %d with it", before, after)
	}
	if r := simulate(t, "", "--spot-risk", "default", "--spot-history", "testdata/prices.json"); r.code == exitPlaced || !strings.Contains(r.stderr, "--spot-history") {
		t.Errorf("status %d: %s", r.code, r.stderr)
	}
}

func TestSpotRiskFlag(t *testing.T) {
	for text, want := range map[string]string{
		"lost-work=8": "--spot-risk lost-work=8: needs a time, as lost-work=10m", "per-node=x": "--spot-risk per-node=x: needs an amount in USD, as per-node=0.5",
		"much": "--spot-risk much: must be default", "per-node=-1": "PerNode", "restart=-1m": "Restart", "per-node=NaN": "PerNode",
	} {
		r := spotRisk{text: text}
		if err := r.parse(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	r := spotRisk{text: "default,lost-work=8h,per-cpu=0.25"}
	if err := r.parse(); err != nil || r.loss.LostWork.Hours() != 8 || r.loss.PerCPU != 0.25 || r.loss.Restart.Minutes() != 5 || r.market == nil {
		t.Errorf("%+v: %v", r, err)
	}
	if err := (&spotRisk{history: "x"}).parse(); err == nil {
		t.Error("a history is taken and not used")
	}
}
