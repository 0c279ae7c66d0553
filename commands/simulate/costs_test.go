package simulate

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkCosts: what is paid for is used, each price is the sum of its terms, and each node bears the licence.
func checkCosts(t *testing.T, d document) {
	types := map[string]int{}
	for _, node := range d.Nodes {
		types[node.InstanceType]++
		sum := 0.0
		for _, term := range node.PriceTerms {
			sum += term.Amount
		}
		if len(node.PriceTerms) < 2 || math.Abs(sum-node.Price) > 1e-8 {
			t.Errorf("%s costs %v by %v", node.Name, node.Price, node.PriceTerms)
		}
		if last := node.PriceTerms[len(node.PriceTerms)-1]; last.Name != "licence" || last.Amount != 0.01 {
			t.Errorf("%s: the last term is %v, want the licence", node.Name, last)
		}
	}
	if types["m7i.2xlarge"] != 2 {
		t.Errorf("nodes %v, want the two m7i.2xlarge that are paid for", types)
	}
	if len(d.Commitments) != 2 || d.Commitments[0].Planned != 2 || d.Commitments[1].Planned <= 0 {
		t.Errorf("commitments %+v, want both used", d.Commitments)
	}
}

// A certificate of a plan with commitments adds up to the lower bound. A replay needs no cost model; with another it says
// what the same would have cost.
func TestCostModelInFiles(t *testing.T) {
	dir := t.TempDir()
	saved, proof := filepath.Join(dir, "snapshot.yaml"), filepath.Join(dir, "certificate.json")
	args := []string{"-o", "json", "--catalog", smallCatalog, "testdata/constraints/class.yaml", "testdata/constraints/pool.yaml", "testdata/constraints/ondemand.yaml"}
	d := simulate(t, "", append(args, "--cost-model", "testdata/constraints/costs.yaml", "--save-snapshot", saved, "--certificate", proof)...).plan(t)
	data, err := os.ReadFile(proof)
	if err != nil {
		t.Fatal(err)
	}
	var cert certificateDocument
	if err := json.Unmarshal(data, &cert); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, c := range cert.Classes {
		sum += float64(c.Count) * c.Value
	}
	for _, l := range cert.Limits {
		sum -= l.Amount * l.Value
	}
	if len(cert.Limits) != 2 || d.Summary.LowerBound <= 0 || math.Abs(sum-d.Summary.LowerBound) > 1e-6 {
		t.Errorf("%d limits; the certificate adds up to %v, the bound is %v", len(cert.Limits), sum, d.Summary.LowerBound)
	}
	replayed := simulate(t, "", "-o", "json", "--snapshot", saved).plan(t)
	if replayed.Summary.HourlyCost != d.Summary.HourlyCost {
		t.Errorf("a replay costs %v, was %v", replayed.Summary.HourlyCost, d.Summary.HourlyCost)
	}
	none := filepath.Join(dir, "none.yaml")
	if err := os.WriteFile(none, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	listed := simulate(t, "", "-o", "json", "--snapshot", saved, "--cost-model", none).plan(t)
	if plain := simulate(t, "", args...).plan(t); listed.Summary.HourlyCost != plain.Summary.HourlyCost {
		t.Errorf("by list prices it costs %v, want %v", listed.Summary.HourlyCost, plain.Summary.HourlyCost)
	}
}

// What is wrong with a cost model is said with the file and the field.
func TestBadCostModels(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("terms: [{name: t, source: s, percent: -300}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{bad: "terms[0].percent", "testdata/nowhere.yaml": "no such file", "": "needs the name of a file"} {
		a := simulate(t, "", "--catalog", smallCatalog, "--cost-model="+file)
		if a.code != exitInput || !strings.Contains(a.stderr, want) {
			t.Errorf("%q: status %d, %s", file, a.code, a.stderr)
		}
	}
}
