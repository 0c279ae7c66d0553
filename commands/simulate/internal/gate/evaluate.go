package gate

import (
	"fmt"
	"slices"
	"strings"
)

// Report says whether a change meets a policy, with the result of each rule.
type Report struct {
	// Policy is the file and the name of the policy.
	File, Name string
	// Results has one result for each rule of the policy, in the order of Rules().
	Results []Result
}

// Result says whether the change meets one rule.
type Result struct {
	Rule  string
	About string
	Level Level
	// Broken is true if a value exceeds its limit, or is below it for a limit with Least.
	Broken bool
	// Line is the line of the rule in the policy.
	Line   int
	Checks []Check
	// Objects are the workloads that the rule counts, if it is about workloads.
	Objects []Object
	// Note says how the values may differ from the real ones; empty if the values are exact.
	Note string
	// status is the exit status of the rule.
	status int
}

// Check compares one value with its limit.
type Check struct {
	Field        string
	Limit, Value float64
	Broken       bool
	// limit defines the field, its unit, and how its value is computed.
	limit Limit
}

// Evaluate checks a change against a policy. Every change meets a policy without rules.
func Evaluate(p *Policy, f *Facts) Report {
	report := Report{File: p.File, Name: p.Name}
	rules := Rules()
	for _, own := range p.Rules {
		i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == own.Name })
		if i < 0 {
			continue // not possible after Parse, which refuses unknown rules
		}
		report.Results = append(report.Results, rules[i].judge(own, f))
	}
	return report
}

func (r *Rule) judge(own PolicyRule, f *Facts) Result {
	result := Result{Rule: r.Name, About: r.About, Level: own.Level, Line: own.Line, status: r.Status}
	for _, l := range r.Limits {
		limit, ok := own.Limits[l.Field]
		if !ok {
			continue
		}
		value := l.value(f, own.Except)
		check := Check{Field: l.Field, Limit: limit, Value: value, Broken: value > limit, limit: l}
		if l.Least {
			check.Broken = value < limit
		}
		result.Broken = result.Broken || check.Broken
		result.Checks = append(result.Checks, check)
	}
	if r.objects != nil {
		result.Objects = r.objects(f, own.Except)
	}
	if r.Name == "addedCost" && f.UnpricedGone > 0 {
		result.Note = fmt.Sprintf("the price of %s is not known: the added cost is lower than this", nodes.format(float64(f.UnpricedGone)))
	}
	return result
}

// Status returns the exit status. If no rule with the level error is broken, it is 0. If one such rule is broken, it is the status of that
// rule. If several are broken, it is StatusSeveral.
func (r *Report) Status() int {
	status := 0
	for _, result := range r.Results {
		switch {
		case !result.Broken || result.Level != LevelError:
		case status != 0:
			return StatusSeveral
		default:
			status = result.status
		}
	}
	return status
}

// Broken returns the number of broken rules of a level.
func (r *Report) Broken(level Level) int {
	n := 0
	for _, result := range r.Results {
		if result.Broken && result.Level == level {
			n++
		}
	}
	return n
}

// Headline says in one line whether the change meets the policy.
func (r *Report) Headline() string {
	name := r.File
	if r.Name != "" {
		name = r.Name + " (" + r.File + ")"
	}
	broken, warned := r.Broken(LevelError), r.Broken(LevelWarning)
	text := fmt.Sprintf("The change keeps policy %s (%s)", name, ruleCount(len(r.Results)))
	if broken > 0 {
		text = fmt.Sprintf("The change breaks %d of %s of policy %s", broken, ruleCount(len(r.Results)), name)
	}
	switch warned {
	case 0:
		return text + "."
	case 1:
		return text + ", with 1 warning."
	}
	return fmt.Sprintf("%s, with %d warnings.", text, warned)
}

func ruleCount(n int) string {
	if n == 1 {
		return "1 rule"
	}
	return fmt.Sprintf("%d rules", n)
}

// LimitText is the limit for people, such as "at most $200.00 a month".
func (c *Check) LimitText() string {
	if c.limit.Least {
		return "at least " + c.limit.Unit.format(c.Limit)
	}
	return "at most " + c.limit.Unit.format(c.Limit)
}

// ValueText is the value for people, in the unit of LimitText.
func (c *Check) ValueText() string { return c.limit.Unit.format(c.Value) }

// Unit is the unit of the limit and of the value, such as "USD per month", "percent" or "pod".
func (c *Check) Unit() string { return string(c.limit.Unit) }

// Sentence says which limit is broken, and which value the change has.
func (r *Result) Sentence() string {
	var parts []string
	for i := range r.Checks {
		if c := &r.Checks[i]; c.Broken {
			parts = append(parts, fmt.Sprintf("%s.%s allows %s (%s), and the change has %s", r.Rule, c.Field, c.LimitText(), c.limit.About, c.ValueText()))
		}
	}
	text := strings.Join(parts, "; ")
	if r.Note != "" {
		text += "; " + r.Note
	}
	return text
}
