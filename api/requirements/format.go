package requirements

import (
	"fmt"
	"strconv"
	"strings"
)

// summaryValues is how many values of a list an error message shows.
const summaryValues = 5

// String returns the key followed by its clauses, as in
//
//	topology.kubernetes.io/zone In [a, b]
//	example.com/cpu Gte 4, Lte 16, NotIn [8], minValues 2
//
// [ParseText] reads it back. Keys and values with unusual characters are quoted.
func (r Requirement) String() string { return r.format(len(r.values)) }

// Summary is like String, but for error messages: if there are more than five values, it shows the first five and the number of the
// others.
func (r Requirement) Summary() string {
	return r.format(summaryValues)
}

// String returns the requirements in the order of their keys, separated by "; ". [ParseSetText] reads it back.
func (s Set) String() string {
	var b strings.Builder
	for i, r := range s.reqs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(r.String())
	}
	return b.String()
}

func (r Requirement) format(most int) string {
	var b strings.Builder
	b.WriteString(token(r.key))
	separator := " "
	clause := func(words ...string) {
		b.WriteString(separator)
		b.WriteString(strings.Join(words, " "))
		separator = ", "
	}
	if r.bounds.hasLower {
		clause(string(OpGte), strconv.FormatInt(r.bounds.lower, 10))
	}
	if r.bounds.hasUpper {
		clause(string(OpLte), strconv.FormatInt(r.bounds.upper, 10))
	}
	switch op := r.Operator(); {
	case len(r.values) > 0:
		clause(string(op), list(r.values, most))
	case !r.bounds.any():
		clause(string(op))
	}
	if r.minValues > 0 {
		clause(minValuesWord, strconv.Itoa(r.minValues))
	}
	return b.String()
}

func list(values []string, most int) string {
	shown := values[:min(most, len(values))]
	words := make([]string, len(shown))
	for i, v := range shown {
		words[i] = token(v)
	}
	text := "[" + strings.Join(words, ", ")
	if more := len(values) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d others", more)
	}
	return text + "]"
}

// token returns s unchanged if it is unambiguous in the text form, and quoted otherwise.
func token(s string) string {
	if bareLength(s) == len(s) && s != "" {
		return s
	}
	return strconv.Quote(s)
}

// bareLength returns the length of the longest prefix of s that needs no quotes.
func bareLength(s string) int {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-', c == '_', c == '.', c == '/':
		default:
			return i
		}
	}
	return len(s)
}
