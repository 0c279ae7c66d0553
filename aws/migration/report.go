package migration

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/option"
)

// Severity says how important a finding is.
type Severity string

// The severities, from the most to the least important.
const (
	// SeverityError: something would no longer work after the move. Correct it first.
	SeverityError Severity = "error"
	// SeverityWarning: new nodes would differ, or nodes would be replaced.
	SeverityWarning Severity = "warning"
	// SeverityInfo: a difference without effect on nodes and pods.
	SeverityInfo Severity = "info"
)

// rank orders severities: the most important first.
func (s Severity) rank() int {
	return slices.Index([]Severity{SeverityError, SeverityWarning, SeverityInfo}, s)
}

// Names of the checks.
const (
	CheckObjects         = "objects"
	CheckUserData        = "user-data"
	CheckLaunchTemplates = "launch-template"
	CheckIAM             = "iam"
	CheckInstanceTypes   = "instance-types"
	CheckDrift           = "drift"
)

// checks returns the names of all checks in the order of the report.
func checks() []string {
	return []string{CheckObjects, CheckUserData, CheckLaunchTemplates, CheckIAM, CheckInstanceTypes, CheckDrift}
}

// Finding is one thing that the move would change.
type Finding struct {
	// Severity of the finding.
	Severity Severity `json:"severity"`
	// Check that found it: one of the Check constants.
	Check string `json:"check"`
	// Object that the finding concerns, such as "EC2NodeClass/default".
	Object string `json:"object"`
	// Field of the object, of the launch template or of the user data; empty if the finding concerns the whole object.
	Field string `json:"field,omitempty"`
	// Message is a sentence. It never quotes user data.
	Message string `json:"message"`
	// Cure says what to do; empty if nothing needs to be done.
	Cure string `json:"cure,omitempty"`
}

// Skipped is a check that could not be made, as a whole or for one object.
type Skipped struct {
	// Check that was not made: one of the Check constants.
	Check string `json:"check"`
	// Object for which the check was not made; empty for all objects.
	Object string `json:"object,omitempty"`
	// Reason is a sentence that says why the check was not made, and how to make it possible.
	Reason string `json:"reason"`
}

// Checked counts the compared objects.
type Checked struct {
	// NodeClasses, NodePools and NodeClaims of the input.
	NodeClasses int `json:"nodeClasses"`
	NodePools   int `json:"nodePools"`
	NodeClaims  int `json:"nodeClaims"`
	// LaunchTemplates of Karpenter that were compared.
	LaunchTemplates int `json:"launchTemplates"`
	// Instances whose user data was compared, because their class has no launch template of Karpenter.
	Instances int `json:"instances"`
	// Permissions that were simulated: pairs of action and resource.
	Permissions int `json:"permissions"`
}

// Report is the result of Verify. Equal inputs and equal answers of AWS give equal JSON.
type Report struct {
	// Cluster is the name of the cluster.
	Cluster string `json:"cluster"`
	// Region of the cluster.
	Region string `json:"region"`
	// Checked counts the compared objects.
	Checked Checked `json:"checked"`
	// Findings, the most important first.
	Findings []Finding `json:"findings"`
	// NotChecked lists the checks that could not be made.
	NotChecked []Skipped `json:"notChecked"`
}

// Worst returns the severity of the most important finding; empty without findings.
func (r Report) Worst() Severity {
	if len(r.Findings) == 0 {
		return ""
	}
	return r.Findings[0].Severity
}

// Count returns the number of findings of a severity.
func (r Report) Count(s Severity) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

// found adds a finding.
func (r *Report) found(s Severity, check, object, field, cure, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{Severity: s, Check: check, Object: object, Field: field, Message: fmt.Sprintf(format, args...), Cure: cure})
}

// skip adds a check that could not be made.
func (r *Report) skip(check, object, format string, args ...any) {
	r.NotChecked = append(r.NotChecked, Skipped{Check: check, Object: object, Reason: fmt.Sprintf(format, args...)})
}

// sort sorts the report, and removes duplicates.
func (r *Report) sort() {
	order := checks()
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Severity.rank(), b.Severity.rank()),
			cmp.Compare(slices.Index(order, a.Check), slices.Index(order, b.Check)),
			cmp.Compare(a.Object, b.Object), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message),
		)
	})
	r.Findings = slices.Compact(r.Findings)
	slices.SortStableFunc(r.NotChecked, func(a, b Skipped) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Check), slices.Index(order, b.Check)), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason))
	})
	r.NotChecked = slices.Compact(r.NotChecked)
}

// WriteText writes the report for people. The error is that of w, or an *option.ArgumentError if w is nil.
func (r Report) WriteText(w io.Writer) error {
	if w == nil {
		return option.Missing("Report.WriteText", "the writer")
	}
	var b strings.Builder
	c := r.Checked
	fmt.Fprintf(&b, "Cluster %s, region %s: %d node classes, %d node pools, %d node claims; compared %d launch templates, %d instances, %d permissions.\n",
		r.Cluster, r.Region, c.NodeClasses, c.NodePools, c.NodeClaims, c.LaunchTemplates, c.Instances, c.Permissions)
	for i := range r.Findings {
		f := &r.Findings[i]
		at := f.Object
		if f.Field != "" {
			at += " " + f.Field
		}
		fmt.Fprintf(&b, "\n%-7s %s  %s\n        %s\n", strings.ToUpper(string(f.Severity)), f.Check, at, f.Message)
		if f.Cure != "" {
			fmt.Fprintf(&b, "        Cure: %s\n", f.Cure)
		}
	}
	if len(r.NotChecked) > 0 {
		fmt.Fprintf(&b, "\nNot checked:\n")
	}
	for _, s := range r.NotChecked {
		at := s.Check
		if s.Object != "" {
			at += " of " + s.Object
		}
		fmt.Fprintf(&b, "  %s: %s\n", at, s.Reason)
	}
	fmt.Fprintf(&b, "\n%d errors, %d warnings, %d notes, %d not checked.\n",
		r.Count(SeverityError), r.Count(SeverityWarning), r.Count(SeverityInfo), len(r.NotChecked))
	_, err := io.WriteString(w, b.String())
	return err
}
