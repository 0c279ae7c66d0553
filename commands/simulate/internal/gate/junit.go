package gate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitFailure `xml:"failure,omitempty"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report in the format of JUnit's XML reports, which CI systems read: a test case for each rule. A broken rule with
// the level error is a failure. A broken rule with the level warning passes, and its output names the exceeded limit.
func (r *Report) WriteJUnit(w io.Writer) error {
	suite := junitSuite{Name: "drawknife policy " + r.File, Tests: len(r.Results), Failures: r.Broken(LevelError), Time: "0", Cases: []junitCase{}}
	for i := range r.Results {
		result := &r.Results[i]
		c := junitCase{Name: result.Rule, ClassName: "drawknife.policy", File: r.File, Time: "0"}
		switch text := result.details(); {
		case !result.Broken:
			c.Output = text
		case result.Level == LevelWarning:
			c.Output = "warning: " + result.Sentence() + "\n" + text
		default:
			c.Failure = &junitFailure{Message: result.Sentence(), Type: result.Rule, Text: text}
		}
		suite.Cases = append(suite.Cases, c)
	}
	all := junitSuites{Name: "drawknife", Tests: suite.Tests, Failures: suite.Failures, Suites: []junitSuite{suite}}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if err := out.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// details returns the values of a rule and the workloads that the rule counts, one per line.
func (r *Result) details() string {
	var b strings.Builder
	for i := range r.Checks {
		c := &r.Checks[i]
		fmt.Fprintf(&b, "%s.%s: %s, limit %s\n", r.Rule, c.Field, c.ValueText(), c.LimitText())
	}
	if r.Note != "" {
		fmt.Fprintln(&b, r.Note)
	}
	for i, o := range r.Objects {
		if i == maxResults {
			fmt.Fprintf(&b, "and %d more workloads\n", len(r.Objects)-i)
			break
		}
		fmt.Fprintln(&b, objectSentence(r.Rule, o))
	}
	return b.String()
}
