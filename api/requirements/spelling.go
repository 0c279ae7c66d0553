package requirements

import "strings"

// spellingHint is the first of the known keys, searched in the order given, that looks like key by the strongest of
// three likenesses: the same name part, containing it, or a slip of the keyboard. Empty when none does.
func spellingHint(key string, known []string) string {
	if key == "" {
		return ""
	}
	name := namePart(key)
	slips := min(len(key)/5, 2)
	likenesses := []func(candidate string) bool{
		func(c string) bool { return namePart(c) == name },
		func(c string) bool { return strings.Contains(c, key) },
		func(c string) bool { return withinEdits(key, c, slips) },
	}
	for _, alike := range likenesses {
		for _, c := range known {
			if c != key && alike(c) {
				return c
			}
		}
	}
	return ""
}

// namePart is what follows the last slash of a label key.
func namePart(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// withinEdits reports whether at most so many insertions, removals or replacements of a byte turn a into b
// (Levenshtein's distance, one row of the table at a time).
func withinEdits(a, b string, most int) bool {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return false
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			edits := diagonal
			if a[i] != b[j] {
				edits = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], edits
		}
	}
	return row[len(b)] <= most
}
