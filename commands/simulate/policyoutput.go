package simulate

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/drawknife/drawknife/commands/simulate/internal/gate"
	"github.com/drawknife/drawknife/internal/printable"
)

// policyDocument is the result of a policy.
type policyDocument struct {
	File string `json:"file"`
	// Name is left out if the policy has none.
	Name string `json:"name,omitempty"`
	// Status is the exit status that the policy asks for: 0 if no rule with the level error is broken.
	Status int                  `json:"status"`
	Rules  []policyRuleDocument `json:"rules"`
}

type policyRuleDocument struct {
	Name   string                `json:"name"`
	Level  string                `json:"level"`
	Broken bool                  `json:"broken"`
	Limits []policyLimitDocument `json:"limits"`
	// Workloads are left out of rules that are not about workloads.
	Workloads []policyWorkloadDocument `json:"workloads,omitempty"`
	// Note is left out if the values are exact.
	Note string `json:"note,omitempty"`
}

type policyLimitDocument struct {
	Field string  `json:"field"`
	Unit  string  `json:"unit"`
	Limit float64 `json:"limit"`
	// Value is left out if it is infinite: an increase in percent when the cost was 0.
	Value  *float64 `json:"value,omitempty"`
	Broken bool     `json:"broken"`
}

type policyWorkloadDocument struct {
	Name   string `json:"name"`
	Pods   int    `json:"pods"`
	Detail string `json:"detail,omitempty"`
}

// document returns the judgement for JSON and YAML; nil without a policy.
func (j *judgement) document() *policyDocument {
	if j == nil {
		return nil
	}
	d := &policyDocument{File: j.File, Name: j.Name, Status: j.Status(), Rules: make([]policyRuleDocument, 0, len(j.Results))}
	for i := range j.Results {
		r := &j.Results[i]
		rule := policyRuleDocument{Name: r.Rule, Level: string(r.Level), Broken: r.Broken, Limits: make([]policyLimitDocument, 0, len(r.Checks)), Note: r.Note}
		for _, c := range r.Checks {
			limit := policyLimitDocument{Field: c.Field, Unit: c.Unit(), Limit: c.Limit, Broken: c.Broken}
			if !math.IsInf(c.Value, 0) {
				rounded := roundDollars(c.Value)
				limit.Value = &rounded
			}
			rule.Limits = append(rule.Limits, limit)
		}
		for _, o := range r.Objects {
			rule.Workloads = append(rule.Workloads, policyWorkloadDocument{o.String(), o.Pods, o.Detail})
		}
		d.Rules = append(d.Rules, rule)
	}
	return d
}

// shownOffenders is the number of workloads of a broken rule that the text output lists.
const shownOffenders = 10

// writePolicy writes the judgement: a headline, a row for each limit, and the workloads of broken rules.
func (r differenceText) writePolicy(w io.Writer) {
	j := r.difference.judgement
	if j == nil {
		return
	}
	color := green
	if j.Broken(gate.LevelError) > 0 {
		color = red
	} else if j.Broken(gate.LevelWarning) > 0 {
		color = yellow
	}
	if r.markdown {
		color = bold
	}
	fmt.Fprintln(w, r.paint(color, j.Headline()))
	t := table{columns: []column{{title: "RULE"}, {title: "LIMIT"}, {title: "VALUE"}, {title: "RESULT"}}}
	for i := range j.Results {
		result := &j.Results[i]
		for k := range result.Checks {
			c := &result.Checks[k]
			verdict := "kept"
			if c.Broken {
				verdict = "BROKEN"
				if result.Level == gate.LevelWarning {
					verdict = "warning"
				}
				verdict = r.paint(bold, verdict)
			}
			t.rows = append(t.rows, row{cells: []string{result.Rule + "." + c.Field, c.LimitText(), c.ValueText(), verdict}})
		}
	}
	t.write(w, r.canvas)
	for i := range j.Results {
		r.writeOffenders(w, &j.Results[i])
	}
	fmt.Fprintln(w)
}

// writeOffenders lists the workloads of a broken rule, and prints the note of its result.
func (r differenceText) writeOffenders(w io.Writer, result *gate.Result) {
	if result.Note != "" {
		fmt.Fprintf(w, "  %s: %s.\n", result.Rule, result.Note)
	}
	if !result.Broken || len(result.Objects) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, result.Rule+":"))
	for i, o := range result.Objects {
		if i == shownOffenders && !r.verbose {
			fmt.Fprintf(w, "  and %s\n", counted(len(result.Objects)-i, "more workload"))
			break
		}
		line := fmt.Sprintf("%s, %s", o, counted(o.Pods, "pod"))
		if o.Detail != "" {
			line += ": " + o.Detail
		}
		r.writeWrapped(w, "  ", line)
	}
}

// writeReports writes the files of --report.
func (s *simulation) writeReports(d difference, doc differenceDocument) error {
	for _, report := range s.policy.reports {
		err := writeFile(report.file, func(w io.Writer) error {
			out := printable.NewWriter(w)
			return errors.Join(s.writeDifference(out, report.form, d, doc), out.Flush())
		})
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		s.done.wrote(report.file)
	}
	return nil
}
