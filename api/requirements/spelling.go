package requirements

import (
	"strings"

	"github.com/drawknife/drawknife/internal/spelling"
)

// spellingHint returns the known key that is most similar to the key: a key with the same name part, else a key that contains this name
// part, else a key that differs by a typing error. Of equally similar keys it returns the first. It is empty if no key is similar.
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

// namePart returns the part of a label key after the last slash.
func namePart(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }
