package redact

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// sentences replaces names in texts for people by the same words as in all other fields of the snapshot. Other parts of the texts stay
// unchanged. Before the words have been chosen, it returns the texts unchanged.
func (a *anonymizer) sentences(texts []string) []string {
	if texts == nil {
		return nil
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = a.sentence(text)
	}
	return out
}

func (a *anonymizer) sentence(text string) string {
	var names []string
	for name, word := range a.words {
		if word != "" && !isOrdinary(name) && strings.Contains(text, name) {
			names = append(names, name)
		}
	}
	// Longer names are replaced first, because a longer name may begin with a shorter name.
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var out strings.Builder
	before := ' '
	for at := 0; at < len(text); {
		name := ""
		if !inName(before) {
			if i := slices.IndexFunc(names, func(name string) bool {
				rest, found := strings.CutPrefix(text[at:], name)
				next, _ := utf8.DecodeRuneInString(rest)
				return found && (rest == "" || !inName(next))
			}); i >= 0 {
				name = names[i]
			}
		}
		if name != "" {
			out.WriteString(a.words[name])
			before, _ = utf8.DecodeLastRuneInString(name)
			at += len(name)
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		out.WriteString(text[at : at+size])
		before, at = r, at+size
	}
	return out.String()
}

// inName reports whether the rune next to a name in a text belongs to a longer name.
func inName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' }

// isOrdinary reports whether a name stays unchanged in sentences. These names are single letters, which are also English words, and
// capacity types, which sentences about prices need.
func isOrdinary(name string) bool {
	return len(name) == 1 || slices.Contains([]string{v1.CapacityTypeSpot, v1.CapacityTypeOnDemand, v1.CapacityTypeReserved}, name)
}
