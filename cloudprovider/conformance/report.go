package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Outcome of testing a clause.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "Passed"
	Failed  Outcome = "Failed"
	Skipped Outcome = "Skipped"
)

// Result is the result of one clause.
type Result struct {
	// Level and Clause that were tested: "Core", "CP-CREATE-02".
	Level  Level  `json:"level"`
	Clause string `json:"clause"`
	// Says is a short form of the clause; the comment of package cloudprovider has the full text.
	Says string `json:"says"`
	// Outcome of the test.
	Outcome Outcome `json:"outcome"`
	// Reason why the clause was skipped; empty otherwise.
	Reason string `json:"reason,omitempty"`
	// Faults found; nil unless the clause failed.
	Faults []string `json:"faults,omitempty"`
}

// Report is the result of a run. It contains no times, so that the same provider gives the same report.
type Report struct {
	// Provider's name.
	Provider string `json:"provider"`
	// Results are in the order of the levels, and within each level in the order of the contract.
	Results []Result `json:"results"`
	// Corrections compare the provider's model with real nodes; nil if no nodes were observed. They are estimates for the provider's
	// overhead, not failures.
	Corrections []Correction `json:"corrections,omitempty"`
}

func (r *Report) add(c clause, f finding) {
	r.Results = append(r.Results, Result{
		Level: c.level, Clause: c.id, Says: c.says, Outcome: f.outcome, Reason: f.reason, Faults: f.faults,
	})
}

// Level returns the result of a whole level: Failed if a clause failed, Passed if at least one passed, Skipped otherwise.
func (r *Report) Level(level Level) Outcome {
	outcome := Skipped
	for _, result := range r.Results {
		switch {
		case result.Level != level:
		case result.Outcome == Failed:
			return Failed
		case result.Outcome == Passed:
			outcome = Passed
		}
	}
	return outcome
}

// Failed returns the clauses that failed, in the report's order, or nil if no clause failed.
func (r *Report) Failed() []string {
	var failed []string
	for _, result := range r.Results {
		if result.Outcome == Failed {
			failed = append(failed, result.Clause)
		}
	}
	return failed
}

// WriteJSON writes the report as JSON, for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("writing the report on provider %q: %w", r.Provider, err)
	}
	return nil
}

// WriteMarkdown writes the report as Markdown, for readers: the levels, then every clause, then the corrections.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Conformance of provider %s\n\nThe clauses are those of package `cloudprovider`.\n\n", r.Provider)
	b.WriteString("| level | outcome | passed | failed | skipped |\n|---|---|---|---|---|\n")
	for _, level := range append(Levels(), Engine) {
		count := map[Outcome]int{}
		for _, result := range r.Results {
			if result.Level == level {
				count[result.Outcome]++
			}
		}
		if len(count) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d |\n", level, r.Level(level), count[Passed], count[Failed], count[Skipped])
		}
	}
	b.WriteString("\n| level | clause | outcome | says |\n|---|---|---|---|\n")
	for _, result := range r.Results {
		outcome := string(result.Outcome)
		switch {
		case result.Reason != "":
			outcome += ": " + cell(result.Reason)
		case len(result.Faults) > 0:
			outcome += ": " + cell(strings.Join(result.Faults, "; "))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", result.Level, result.Clause, outcome, cell(result.Says))
	}
	if len(r.Corrections) > 0 {
		b.WriteString("\n## Modelled and observed\n\n" + CorrectionTable(r.Corrections))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the report on provider %q: %w", r.Provider, err)
	}
	return nil
}

// cell escapes the characters of a text that would end a cell of a Markdown table: bars and line breaks.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(text)
}
