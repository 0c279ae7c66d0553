package manifests

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Position is a place in the input.
type Position struct {
	// Source is the Name of the Source.
	Source string `json:"source"`
	// Document counts the documents of the source from 1, without empty ones. 0 means the source as a whole.
	Document int `json:"document,omitempty"`
	// Item counts the items of a list from 1. 0 means that the document is not a list.
	Item int `json:"item,omitempty"`
	// Line counts the lines of the source from 1. 0 means unknown.
	Line int `json:"line,omitempty"`
}

// String returns for example "pods.yaml: document 1, item 7, line 123", without unknown parts.
func (p Position) String() string {
	var parts []string
	for _, part := range []struct {
		word   string
		number int
	}{{"document", p.Document}, {"item", p.Item}, {"line", p.Line}} {
		if part.number > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.word, part.number))
		}
	}
	if len(parts) == 0 {
		return p.Source
	}
	return p.Source + ": " + strings.Join(parts, ", ")
}

func (p Position) compare(o Position) int {
	return cmp.Or(
		strings.Compare(p.Source, o.Source),
		cmp.Compare(p.Document, o.Document),
		cmp.Compare(p.Item, o.Item),
		cmp.Compare(p.Line, o.Line),
	)
}

// ProblemCode identifies the kind of problem for callers. Codes are stable.
type ProblemCode string

const (
	// ProblemMalformed is a document that is not YAML or JSON, or not a Kubernetes object.
	ProblemMalformed ProblemCode = "Malformed"
	// ProblemVersion: the kind is known, but not in this apiVersion.
	ProblemVersion ProblemCode = "UnknownVersion"
	// ProblemType is a field with a value of the wrong type.
	ProblemType ProblemCode = "WrongType"
	// ProblemInvalid is a field that breaks a rule of its kind.
	ProblemInvalid ProblemCode = "Invalid"
	// ProblemRequest is a resource amount that is negative or can't be intended.
	ProblemRequest ProblemCode = "ImpossibleRequest"
	// ProblemUnknownField (only with Options.Strict): a field is unknown for its kind, or is given twice.
	ProblemUnknownField ProblemCode = "UnknownField"
	// ProblemConversion: an object of an older generation can't be converted; the message begins with a code of package api/conversion.
	ProblemConversion ProblemCode = "NotConvertible"
	// ProblemDuplicate is an object that was given twice.
	ProblemDuplicate ProblemCode = "Duplicate"
	// ProblemTooLarge is input beyond one of the Limits.
	ProblemTooLarge ProblemCode = "TooLarge"
)

// Problem is one reason why the input was refused. It is an error: errors.As finds the first Problem of a LoadError.
type Problem struct {
	// Position is where.
	Position
	// Code is the kind of problem.
	Code ProblemCode
	// Object is "Kind namespace/name", without the parts that are unknown.
	Object string
	// Path is the field, as in "spec.containers[0].resources.requests[cpu]". Empty means the object as a whole.
	Path string
	// Message says what is wrong and what would be right.
	Message string
	// First is, for a duplicate, the position of the first object; otherwise it is nil.
	First *Position
}

// Error returns one line: position, object, path, message.
func (p *Problem) Error() string {
	if p == nil {
		return ""
	}
	return joinNonEmpty(p.Position.String(), p.Object, p.Path, p.Message)
}

func joinNonEmpty(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// LoadError is everything that was wrong with the input. Nothing was loaded.
type LoadError struct {
	// Problems are sorted by position; at least one, at most Limits.Problems.
	Problems []*Problem
	// More counts the problems that were left out.
	More int
}

// Error lists the problems, one a line.
func (e *LoadError) Error() string {
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		lines = append(lines, p.Error())
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As and errors.Is look at each problem.
func (e *LoadError) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// problems collects problems up to a limit.
type problems struct {
	list  []*Problem
	more  int
	limit int
}

func (p *problems) add(problem *Problem) {
	if len(p.list) >= p.limit {
		p.more++
		return
	}
	p.list = append(p.list, problem)
}

// full reports whether the limit is reached. If so, it counts one more problem. Callers call it before they compute the position of a
// problem, because computing all positions would take too long in a file with many problems.
func (p *problems) full() bool {
	if len(p.list) < p.limit {
		return false
	}
	p.more++
	return true
}

// err returns the problems as a *LoadError, or nil if there are no problems.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	p.sort()
	return &LoadError{Problems: p.list, More: p.more}
}

func (p *problems) sort() {
	slices.SortStableFunc(p.list, func(a, b *Problem) int {
		return cmp.Or(a.compare(b.Position), strings.Compare(a.Path, b.Path))
	})
}

// Advice that is appended to problems of templates that are not rendered yet.
const (
	hintTemplate    = `; it looks like a template: plan what it is rendered to ("helm template" does so for charts)`
	hintPlaceholder = `; it looks like a placeholder: plan what it is filled in to`
)

// placeholder matches the beginning of a name that a tool replaces by a value: "${NAME}". It does not match the forms "$NAME" and
// "$(NAME)", because they also occur in shell scripts and in commands of containers.
var placeholder = regexp.MustCompile(`\$\{[A-Za-z_]`)

// hintTemplates adds advice to problems on lines of templates, and to problems of invalid YAML if their source contains a template.
func (l *loader) hintTemplates() {
	l.problems.sort()
	var at lineReader
	for _, p := range l.problems.list {
		if at.name != p.Source || at.number == 0 {
			i := slices.IndexFunc(l.sources, func(s Source) bool { return s.Name == p.Source })
			if i < 0 {
				continue
			}
			data := l.sources[i].Data
			at = lineReader{name: p.Source, number: 1, rest: data, templates: bytes.Contains(data, []byte("{{")), placeholders: placeholder.Match(data)}
		}
		if p.Line > 0 && (at.templates || at.placeholders) {
			p.Message += at.hint(p)
		}
	}
}

// lineReader reads the lines of a source once, from the first to the last.
type lineReader struct {
	name string
	// number is the number of the first line of rest, counted from 1.
	number int
	rest   []byte
	// templates and placeholders say whether the source contains templates or placeholders.
	templates, placeholders bool
}

// hint returns the advice for a problem, or "" if no advice is known.
func (r *lineReader) hint(p *Problem) string {
	for ; r.number < p.Line; r.number++ {
		end := bytes.IndexByte(r.rest, '\n')
		if end < 0 {
			break
		}
		r.rest = r.rest[end+1:]
	}
	line, _, _ := bytes.Cut(r.rest, []byte{'\n'})
	switch {
	case bytes.Contains(line, []byte("{{")), r.templates && p.Code == ProblemMalformed && p.Path == "":
		return hintTemplate
	case placeholder.Match(line):
		return hintPlaceholder
	}
	return ""
}
