package manifests

import (
	"bytes"
	"regexp"
	"slices"
)

// Messages for problems of templates that are not rendered yet.
const (
	hintTemplate    = `; it looks like a template: plan what it is rendered to ("helm template" does so for charts)`
	hintPlaceholder = `; it looks like a placeholder: plan what it is filled in to`
)

// placeholder is a name that a tool puts a value in place of: "${NAME}". Shells and containers write "$NAME" and "$(NAME)" too.
var placeholder = regexp.MustCompile(`\$\{[A-Za-z_]`)

// hintTemplates adds advice to problems on lines of templates, and to problems of invalid YAML if a template is in its source.
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

// lineReader goes through the lines of a source once.
type lineReader struct {
	name string
	// number is the number of the line that rest begins with, from 1.
	number int
	rest   []byte
	// templates and placeholders say whether there are any.
	templates, placeholders bool
}

// hint returns the advice for a problem, or "" if there is none.
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
