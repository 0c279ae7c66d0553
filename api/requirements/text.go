package requirements

import (
	"fmt"
	"strconv"
	"strings"
)

// minValuesWord begins the only clause of the text form that has no operator.
const minValuesWord = "minValues"

// MarshalText returns the text of [Requirement.String], so JSON and YAML contain a single Requirement in this form.
func (r Requirement) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the text of MarshalText; see [ParseText].
func (r *Requirement) UnmarshalText(text []byte) error {
	parsed, err := ParseText(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// ParseText parses the text form of [Requirement.String]: a key and one or more clauses separated by commas. A clause is In [values],
// NotIn [values], Exists, DoesNotExist, an integer comparison (Gt, Lt, Gte, Lte) or minValues. Several clauses are a conjunction. The
// error states the byte at which parsing stopped and what was expected there.
func ParseText(text string) (Requirement, error) {
	s := scanner{text: text}
	r, err := s.requirement()
	if err != nil {
		return Requirement{}, err
	}
	if s.skip(); s.rest() != "" {
		return Requirement{}, s.expected("the end or a comma and another clause")
	}
	return r, nil
}

// ParseSetText parses the text form of [Set.String]: requirements separated by semicolons. The empty text is the empty set; requirements
// on one key are intersected.
func ParseSetText(text string) (Set, error) {
	s := scanner{text: text}
	if s.skip(); s.rest() == "" {
		return Set{}, nil
	}
	var reqs []Requirement
	for {
		r, err := s.requirement()
		if err != nil {
			return Set{}, err
		}
		reqs = append(reqs, r)
		if !s.take(";") {
			break
		}
	}
	if s.rest() != "" {
		return Set{}, s.expected("the end, a comma and another clause, or a semicolon and another requirement")
	}
	return NewSet(reqs...), nil
}

// scanner parses the text form from left to right.
type scanner struct {
	text string
	at   int
}

func (s *scanner) rest() string { return s.text[s.at:] }

func (s *scanner) skip() {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
}

// take skips spaces and then punctuation, and reports whether punctuation was there.
func (s *scanner) take(punctuation string) bool {
	s.skip()
	if !strings.HasPrefix(s.rest(), punctuation) {
		return false
	}
	s.at += len(punctuation)
	return true
}

func (s *scanner) expected(what string) error {
	return fmt.Errorf("requirement %q: at byte %d: expected %s", s.text, s.at, what)
}

func (s *scanner) requirement() (Requirement, error) {
	key, err := s.token("a label key")
	if err != nil {
		return Requirement{}, err
	}
	r := Exists(key)
	for {
		if r, err = s.clause(r); err != nil {
			return Requirement{}, err
		}
		if !s.take(",") {
			return r, nil
		}
	}
}

// clause reads one clause and returns the conjunction of r and the clause.
func (s *scanner) clause(r Requirement) (Requirement, error) {
	s.skip()
	start := s.at
	word := s.rest()[:bareLength(s.rest())]
	s.at += len(word)
	switch op := Operator(word); op {
	case OpExists:
		return r, nil
	case OpDoesNotExist:
		return r.Intersect(DoesNotExist(r.key)), nil
	case OpIn, OpNotIn:
		values, err := s.values()
		if err != nil {
			return r, err
		}
		if op == OpIn {
			return r.Intersect(In(r.key, values...)), nil
		}
		return r.Intersect(NotIn(r.key, values...)), nil
	case OpGt, OpLt, OpGte, OpLte:
		n, err := s.integer()
		if err != nil {
			return r, err
		}
		return r.Intersect(compare(r.key, op, n)), nil
	case minValuesWord:
		at := s.at
		n, err := s.integer()
		if err != nil {
			return r, err
		}
		if n < 1 || int64(int(n)) != n {
			s.at = at
			return r, s.expected("an integer of at least 1")
		}
		return r.Intersect(Exists(r.key).WithMinValues(int(n))), nil
	}
	s.at = start
	return r, s.expected("one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte, minValues")
}

func (s *scanner) values() ([]string, error) {
	if !s.take("[") {
		return nil, s.expected("[ and a list of values")
	}
	if s.take("]") {
		return nil, nil
	}
	var values []string
	for {
		v, err := s.token("a label value")
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if s.take("]") {
			return values, nil
		}
		if !s.take(",") {
			return nil, s.expected("a comma or ]")
		}
	}
}

func (s *scanner) integer() (int64, error) {
	s.skip()
	word := s.rest()[:bareLength(s.rest())]
	n, ok := parseInteger(word)
	if !ok {
		return 0, s.expected("an integer")
	}
	s.at += len(word)
	return n, nil
}

// token reads a bare or quoted word.
func (s *scanner) token(what string) (string, error) {
	s.skip()
	if strings.HasPrefix(s.rest(), `"`) {
		quoted, err := strconv.QuotedPrefix(s.rest())
		if err != nil {
			return "", s.expected(what + " with its closing quote")
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return "", s.expected(what)
		}
		s.at += len(quoted)
		return word, nil
	}
	n := bareLength(s.rest())
	if n == 0 {
		return "", s.expected(what)
	}
	word := s.rest()[:n]
	s.at += n
	return word, nil
}

// compare returns the requirement for one of the four integer comparisons.
func compare(key string, op Operator, n int64) Requirement {
	switch op {
	case OpGt:
		return Gt(key, n)
	case OpLt:
		return Lt(key, n)
	case OpGte:
		return Gte(key, n)
	default:
		return Lte(key, n)
	}
}
