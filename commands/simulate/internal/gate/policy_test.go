package gate

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

const head = "apiVersion: drawknife.dev/v1\nkind: ChangePolicy\n"

// full is a policy with everything that one can have.
const full = head + `metadata: {name: shop, labels: {team: web}}
spec:
  singleNodeWorkloads: {max: 0, maxAdded: 0, level: warning}
  addedCost: {maxPerMonth: 200.5, maxPercent: 10}
  unplacedPods:
    max: 0
    maxAdded: 2
    except: [batch/*, shop/web]
  drift: {maxNodes: 10, maxPercent: 20}
  evictions: {maxPods: 1e2, maxPercent: 5, level: error}
  spotShare: {maxPercent: 80, minPercent: 10}
`

func TestParse(t *testing.T) {
	got, err := Parse("budget.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := &Policy{File: "budget.yaml", Name: "shop", Rules: []PolicyRule{
		{Name: "addedCost", Level: LevelError, Limits: map[string]float64{"maxPerMonth": 200.5, "maxPercent": 10}, Line: 6},
		{Name: "unplacedPods", Level: LevelError, Limits: map[string]float64{"max": 0, "maxAdded": 2}, Except: []string{"batch/*", "shop/web"}, Line: 7},
		{Name: "drift", Level: LevelError, Limits: map[string]float64{"maxNodes": 10, "maxPercent": 20}, Line: 11},
		{Name: "evictions", Level: LevelError, Limits: map[string]float64{"maxPods": 100, "maxPercent": 5}, Line: 12},
		{Name: "spotShare", Level: LevelError, Limits: map[string]float64{"maxPercent": 80, "minPercent": 10}, Line: 13},
		{Name: "singleNodeWorkloads", Level: LevelWarning, Limits: map[string]float64{"max": 0, "maxAdded": 0}, Line: 5},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(got.Rules) != len(Rules()) {
		t.Errorf("%d rules of %d", len(got.Rules), len(Rules()))
	}
	asJSON := `{"apiVersion": "drawknife.dev/v1", "kind": "ChangePolicy", "spec": {"drift": {"maxNodes": 3}}}`
	if p, err := Parse("budget.json", []byte(asJSON)); err != nil || !p.Has("drift") || p.Has("evictions") {
		t.Errorf("%+v, %v", p, err)
	}
}

// A fault names the file, the line, the policy and the field, says the rule, and what to write instead.
func TestFaults(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "b.yaml:1: ChangePolicy: the file has no document; write apiVersion: drawknife.dev/v1, kind: ChangePolicy and spec"},
		{"comments", "# nothing\n", "the file has no document"},
		{"no YAML", "a: [", "b.yaml:1: ChangePolicy: is not YAML: "},
		{"a list", "[a]", "must be a mapping with the fields apiVersion, kind, metadata, spec"},
		{"two documents", head + "spec: {drift: {maxNodes: 1}}\n---\na: b\n", "the file has several documents; a policy is one: remove the others"},
		{"another kind", "apiVersion: v1\nkind: ConfigMap\nspec: {drift: {maxNodes: 1}}", `b.yaml:1: ChangePolicy: apiVersion: is "v1": must be drawknife.dev/v1`},
		{"no kind", "apiVersion: drawknife.dev/v1\nspec: {drift: {maxNodes: 1}}", "kind: is missing: write kind: ChangePolicy"},
		{"no spec", head, "spec: is missing: write at least one rule of addedCost, unplacedPods, drift, evictions, spotShare, singleNodeWorkloads"},
		{"an empty spec", head + "spec:\n", "b.yaml:3: ChangePolicy: spec: has no rule: write at least one of addedCost"},
		{"an unknown field", head + "spce: {}\nspec: {drift: {maxNodes: 1}}", "b.yaml:3: ChangePolicy: spce: there is no such field; did you mean spec?"},
		{"an unknown rule", head + "metadata: {name: shop}\nspec:\n  addedCosts: {maxPercent: 5}", "b.yaml:5: ChangePolicy shop: spec.addedCosts: there is no such field; did you mean addedCost?"},
		{"an unknown limit", head + "spec: {addedCost: {maximum: 5}}", "spec.addedCost.maximum: there is no such field; the fields here are maxPerMonth, maxPercent, level"},
		{"no limit", head + "spec: {addedCost: {level: warning}}", "spec.addedCost: has no limit: write at least one of maxPerMonth, maxPercent, or remove the rule"},
		{"a number as a rule", head + "spec: {drift: 5}", "spec.drift: must be a mapping with a limit, such as {maxNodes: 5}; the limits are maxNodes, maxPercent"},
		{"an empty rule", head + "spec:\n  drift:\n", "spec.drift: must be a mapping with a limit"},
		{"an empty limit", head + "spec:\n  drift:\n    maxNodes:\n", "b.yaml:5: ChangePolicy: spec.drift.maxNodes: is empty: write a number, such as 3 for 3 nodes, or remove the field"},
		{"a percent sign", head + "spec: {addedCost: {maxPercent: 5%}}", `spec.addedCost.maxPercent: is "5%": must be a number without a unit, such as 5 for 5 percent`},
		{"a dollar sign", head + "spec: {addedCost: {maxPerMonth: $200}}", `spec.addedCost.maxPerMonth: is "$200": must be a number without a unit, such as 200 for $200 a month`},
		{"a list as a limit", head + "spec: {addedCost: {maxPercent: [5]}}", "must be a number without a unit"},
		{"no number", head + "spec: {addedCost: {maxPercent: .nan}}", "is .nan: must be a number"},
		{"infinite", head + "spec: {addedCost: {maxPercent: .inf}}", "is .inf: must be a number"},
		{"huge", head + "spec: {drift: {maxNodes: 1e300}}", "is 1e300: must be at most 1e+09; to allow any amount, remove the field"},
		{"negative", head + "spec: {drift: {maxNodes: -1}}", "is -1: must not be negative; 0 allows none"},
		{"half a node", head + "spec: {drift: {maxNodes: 1.5}}", "is 1.5: must be a whole number, such as 3 for 3 nodes"},
		{"a level", head + "spec: {drift: {maxNodes: 1, level: info}}", `spec.drift.level: is "info": must be error or warning`},
		{"given twice", head + "spec:\n  drift: {maxNodes: 1}\n  drift: {maxNodes: 2}\n", "b.yaml:5: ChangePolicy: spec.drift: is given twice, first in line 4: remove one of them"},
		{"exchanged", head + "spec: {spotShare: {minPercent: 80, maxPercent: 20}}", "no value is at least 80 and at most 20 percent: exchange them"},
		{"an exception without exceptions", head + "spec: {drift: {maxNodes: 1, except: [a/b]}}", "spec.drift.except: there is no such field"},
		{"a pattern", head + "spec: {unplacedPods: {max: 1, except: [web]}}", `spec.unplacedPods.except[0]: "web": must be NAMESPACE/NAME`},
		{"a broken pattern", head + "spec: {unplacedPods: {max: 1, except: ['a/[']}}", "must be NAMESPACE/NAME"},
		{"no list", head + "spec: {unplacedPods: {max: 1, except: a/b}}", "must be a list of workloads, such as [kube-system/*, batch/report]"},
		{"an alias", head + "spec: {drift: &a {maxNodes: 1}, evictions: *a}", "spec: anchors, aliases and keys that are not text are not read: write the fields out"},
		{"a name", head + "metadata: {name: [a]}\nspec: {drift: {maxNodes: 1}}", "metadata.name: must be a text of one line with at most 253 characters"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("b.yaml", []byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("%v\nwant %s", err, test.want)
			}
			var fault *Fault
			if !errors.As(err, &fault) || fault.Line < 1 || fault.File != "b.yaml" {
				t.Errorf("%#v", fault)
			}
		})
	}
	_, err := Parse("b.yaml", []byte(head+"spec: {drift: {maxNodes: -1}, evictions: {maxPods: x}}"))
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("all faults at once: %v", err)
	}
	if _, err := Read("b.yaml", strings.NewReader(strings.Repeat("#", MaxBytes+1))); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("a large file: %v", err)
	}
}

// Whatever the text is, it is a policy or an error with faults, and a policy that is read has limits in their bounds.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{full, head, "", "a: &a [*a]", head + "spec: {? [a] : b}", head + "spec: {<<: {drift: {maxNodes: 1}}}", "!!binary x", head + "spec: {drift: {maxNodes: 0x10}}", "%YAML 1.1\n---\na\n", head + "spec: {drift: {maxNodes: 1_0}}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("x", data)
		if err != nil {
			var fault *Fault
			if !errors.As(err, &fault) || fault.Message == "" || fault.Line < 1 {
				t.Fatalf("%#v", err)
			}
			return
		}
		if len(p.Rules) == 0 {
			t.Fatal("a policy without rules")
		}
		for _, r := range p.Rules {
			if len(r.Limits) == 0 {
				t.Fatalf("%s has no limit", r.Name)
			}
			for name, limit := range r.Limits {
				if math.IsNaN(limit) || limit < 0 || limit > 1e9 {
					t.Fatalf("%s: %v", name, limit)
				}
			}
		}
		report := Evaluate(p, &Facts{})
		if s := report.Status(); s != 0 && s != 14 { // nothing has no spot nodes
			t.Fatalf("status %d for a change of nothing", s)
		}
	})
}

// The schema in the folder of schemas is that of the reader: what it has is read, and every field that is read is in it.
func TestSchema(t *testing.T) {
	got, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	const file = "../../schemas/changepolicy.schema.json"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("refresh with -update (-committed +generated):\n%s", diff)
	}
	var schema struct {
		Properties struct {
			Spec struct {
				Properties map[string]struct {
					Properties map[string]struct {
						Type             string
						Minimum, Maximum *float64
					}
				}
			}
		}
	}
	if err := json.Unmarshal(want, &schema); err != nil {
		t.Fatal(err)
	}
	fields := 0
	for rule, r := range schema.Properties.Spec.Properties {
		for name, p := range r.Properties {
			value := "1"
			switch {
			case name == "level":
				value = "warning, " + map[bool]string{true: "minPercent", false: firstLimit(rule)}[rule == "spotShare"] + ": 1"
			case name == "except":
				value = "[a/b], max: 1"
			case p.Minimum == nil || p.Maximum == nil:
				t.Errorf("%s.%s has no bounds", rule, name)
			}
			fields++
			if _, err := Parse("x", []byte(head+"spec: {"+rule+": {"+name+": "+value+"}}")); err != nil {
				t.Errorf("%s.%s is in the schema: %v", rule, name, err)
			}
		}
	}
	if fields < 20 {
		t.Errorf("%d fields", fields)
	}
}

func firstLimit(rule string) string {
	for _, r := range Rules() {
		if r.Name == rule {
			return r.Limits[0].Field
		}
	}
	return ""
}
