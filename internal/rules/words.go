package rules

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// WordCount has the number of occurrences of a retired word in code and in documents.
type WordCount struct {
	Code, Documents int
}

// RetiredWords returns the words in the first table after the line <!-- retired words --> of the glossary, in its order.
func RetiredWords(glossary string) ([]string, error) {
	_, table, found := strings.Cut(glossary, "\n<!-- retired words -->\n")
	if !found {
		return nil, errors.New("the glossary has no line <!-- retired words -->")
	}
	var words []string
	for _, line := range lines(table) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if cells := tableRow(line); len(cells) > 1 && cells[0] != "Word" {
			words = append(words, cells[0])
		}
	}
	return words, nil
}

// CountWords counts how often the words occur, with or without an s at the end. A word that is part of an identifier counts too:
// machineOptions is two words.
func CountWords(words []string, texts map[string]string) map[string]int {
	counts := make(map[string]int)
	for _, text := range texts {
		for _, word := range split(text) {
			for _, form := range []string{word, strings.TrimSuffix(word, "s")} {
				if slices.Contains(words, form) {
					counts[form]++
					break
				}
			}
		}
	}
	return counts
}

// split returns the words of a text in lower case. A capital letter after a small letter begins a new word.
func split(text string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	small := false
	for _, r := range text {
		if !unicode.IsLetter(r) || unicode.IsUpper(r) && small {
			end()
		}
		if small = unicode.IsLower(r); unicode.IsLetter(r) {
			word = append(word, unicode.ToLower(r))
		}
	}
	end()
	return words
}

// FormatWordCounts writes counts as lines of the form "word code documents", in the order of words.
func FormatWordCounts(words []string, counts map[string]WordCount) string {
	var b strings.Builder
	for _, w := range words {
		fmt.Fprintf(&b, "%s %d %d\n", w, counts[w].Code, counts[w].Documents)
	}
	return b.String()
}

// ParseWordCounts returns the counts in the output of FormatWordCounts.
func ParseWordCounts(text string) (map[string]WordCount, error) {
	counts := make(map[string]WordCount)
	for scanner := bufio.NewScanner(strings.NewReader(text)); scanner.Scan(); {
		fields := strings.Fields(scanner.Text())
		if len(fields) != 3 {
			return nil, fmt.Errorf("%q is not a word with two counts", scanner.Text())
		}
		code, err := strconv.Atoi(fields[1])
		documents, err2 := strconv.Atoi(fields[2])
		if err = errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("%q is not a word with two counts: %w", scanner.Text(), err)
		}
		counts[fields[0]] = WordCount{code, documents}
	}
	return counts, nil
}

// CheckWords finds retired words that occur more often than recorded, and retired words without a record.
func CheckWords(file string, words []string, recorded, counts map[string]WordCount) []Fault {
	var faults []Fault
	for _, w := range words {
		limit, known := recorded[w]
		if !known {
			faults = append(faults, fault(file, "has no line for the retired word %q", w))
			continue
		}
		for _, c := range []struct {
			where       string
			is, allowed int
		}{{"code", counts[w].Code, limit.Code}, {"documents", counts[w].Documents, limit.Documents}} {
			if c.is > c.allowed {
				faults = append(faults, fault(file, "%q occurs %d times in %s, and may occur %d times: docs/glossary.md says what to use instead", w, c.is, c.where, c.allowed))
			}
		}
	}
	return sorted(faults)
}
