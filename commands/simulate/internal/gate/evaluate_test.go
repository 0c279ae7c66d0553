package gate

import (
	"math"
	"strings"
	"testing"
)

// change is a change that has a value for every limit.
func change() *Facts {
	web, api, job := Object{Kind: "Deployment", Namespace: "shop", Name: "web", Pods: 3, Detail: "no room"}, Object{Kind: "StatefulSet", Namespace: "shop", Name: "api", Pods: 2}, Object{Namespace: "batch", Name: "one", Pods: 1}
	return &Facts{
		CostBefore: 1, CostAfter: 1.5, Nodes: 20, Drifted: 5, Running: 200, Evicted: 30, CPU: 100, SpotCPU: 40,
		Unplaced: []Object{web, job}, UnplacedBefore: []Object{job}, SingleNode: []Object{api, web}, SingleNodeBefore: []Object{api},
	}
}

// Each limit is broken by one more than it allows, and kept by what it allows.
func TestLimits(t *testing.T) {
	for _, test := range []struct {
		limit  string
		value  float64
		status int
		least  bool
	}{
		{"addedCost maxPerMonth", 365, 10, false}, {"addedCost maxPercent", 50, 10, false},
		{"unplacedPods max", 4, 11, false}, {"unplacedPods maxAdded", 3, 11, false},
		{"drift maxNodes", 5, 12, false}, {"drift maxPercent", 25, 12, false},
		{"evictions maxPods", 30, 13, false}, {"evictions maxPercent", 15, 13, false},
		{"spotShare maxPercent", 40, 14, false}, {"spotShare minPercent", 40, 14, true},
		{"singleNodeWorkloads max", 2, 15, false}, {"singleNodeWorkloads maxAdded", 1, 15, false},
	} {
		t.Run(test.limit, func(t *testing.T) {
			rule, field, _ := strings.Cut(test.limit, " ")
			judge := func(limit float64, level Level) Report {
				return Evaluate(&Policy{Rules: []PolicyRule{{Name: rule, Level: level, Limits: map[string]float64{field: limit}}}}, change())
			}
			kept := judge(test.value, LevelError)
			if kept.Status() != 0 || kept.Broken(LevelError) != 0 || math.Abs(kept.Results[0].Checks[0].Value-test.value) > 1e-9 {
				t.Errorf("what is allowed: %+v", kept)
			}
			worse := test.value - 1
			if test.least {
				worse = test.value + 1
			}
			broken := judge(worse, LevelError)
			if broken.Status() != test.status || broken.Broken(LevelError) != 1 {
				t.Errorf("more than is allowed: status %d of %d", broken.Status(), test.status)
			}
			sentence := broken.Results[0].Sentence()
			for _, want := range []string{rule + "." + field, broken.Results[0].Checks[0].LimitText(), broken.Results[0].Checks[0].ValueText()} {
				if !strings.Contains(sentence, want) {
					t.Errorf("%q lacks %q", sentence, want)
				}
			}
			warned := judge(worse, LevelWarning)
			if warned.Status() != 0 || warned.Broken(LevelWarning) != 1 || !strings.Contains(warned.Headline(), "keeps policy  (1 rule), with 1 warning.") {
				t.Errorf("a warning: status %d, %s", warned.Status(), warned.Headline())
			}
		})
	}
}

// Statuses of rules are different from each other, from those of the command, and from that of several rules.
func TestStatuses(t *testing.T) {
	seen := map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 130: true, StatusSeveral: true}
	for _, r := range Rules() {
		if seen[r.Status] || r.Status > 125 {
			t.Errorf("%s: status %d", r.Name, r.Status)
		}
		seen[r.Status] = true
	}
	zero := map[string]float64{"maxNodes": 0, "maxPods": 0}
	several := Evaluate(&Policy{Rules: []PolicyRule{{Name: "drift", Level: LevelError, Limits: zero}, {Name: "evictions", Level: LevelError, Limits: zero}}}, change())
	if several.Status() != StatusSeveral {
		t.Errorf("two broken rules: %d", several.Status())
	}
	one := Evaluate(&Policy{Rules: []PolicyRule{{Name: "drift", Level: LevelWarning, Limits: zero}, {Name: "evictions", Level: LevelError, Limits: zero}}}, change())
	if one.Status() != 13 || one.Headline() != "The change breaks 1 of 2 rules of policy , with 1 warning." {
		t.Errorf("a warning and an error: %d, %s", one.Status(), one.Headline())
	}
}

func TestExceptions(t *testing.T) {
	for _, test := range []struct {
		except []string
		want   float64
	}{{nil, 4}, {[]string{"batch/*"}, 3}, {[]string{"shop/w*"}, 1}, {[]string{"*/*"}, 0}, {[]string{"shop/api"}, 4}} {
		report := Evaluate(&Policy{Rules: []PolicyRule{{Name: "unplacedPods", Level: LevelError, Limits: map[string]float64{"max": 0}, Except: test.except}}}, change())
		if got := report.Results[0].Checks[0].Value; got != test.want {
			t.Errorf("%v: %v pods, want %v", test.except, got, test.want)
		}
	}
}

// A cluster that cost nothing has no percentage, and a price that is not known is said.
func TestUnknownCosts(t *testing.T) {
	policy := &Policy{Rules: []PolicyRule{{Name: "addedCost", Level: LevelError, Limits: map[string]float64{"maxPercent": 1000}}}}
	report := Evaluate(policy, &Facts{CostAfter: 1})
	if report.Status() != 10 || !strings.Contains(report.Results[0].Sentence(), "because the nodes before cost nothing") {
		t.Errorf("%d: %s", report.Status(), report.Results[0].Sentence())
	}
	if same := Evaluate(policy, &Facts{}); same.Status() != 0 {
		t.Errorf("nothing before and after: %d", same.Status())
	}
	if less := Evaluate(policy, &Facts{CostBefore: 2, CostAfter: 1}); less.Status() != 0 || less.Results[0].Checks[0].Value != -50 {
		t.Errorf("a saving: %+v", less)
	}
	report = Evaluate(policy, &Facts{CostBefore: 1, CostAfter: 20, UnpricedGone: 2})
	if !strings.HasSuffix(report.Results[0].Sentence(), "the price of 2 nodes is not known: the added cost is lower than this") {
		t.Errorf("%s", report.Results[0].Sentence())
	}
}
