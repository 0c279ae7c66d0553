package requirements

import (
	"strings"

	"github.com/drawknife/drawknife/internal/spelling"
)

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
		func(c string) bool { _, few := spelling.Edits(key, c, slips); return few },
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
