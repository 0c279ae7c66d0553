// Package spelling finds the known names that the author of an unknown name may have meant. Every "did you mean" message uses this package:
// for label keys, resources, values and flags.
//
//	spelling.Nearest("nvidia.com/gpus", []string{"cpu", "nvidia.com/gpu"}) // [nvidia.com/gpu]
//
// Names are near if few letters differ, in the whole name or in the part after the last slash. Upper and lower case don't matter.
package spelling

import (
	"cmp"
	"slices"
	"strings"
)

// maxEdits is the largest number of letters that may differ between two near names, however long the names are.
const maxEdits = 3

// maxNearest is the largest number of names that Nearest returns. A larger number of equally near names would not help the user.
const maxNearest = 3

// Near returns the known names that are near to a name, without duplicates. The nearest name is first, and equally near names are sorted.
// The result is nil if no known name is near. It never contains the name itself.
func Near(name string, known []string) []string {
	list := near(name, known)
	if len(list) == 0 {
		return nil
	}
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.name
	}
	return out
}

// Nearest returns the known names that are nearest to a name, in sorted order. It returns nil if no known name is near, or if more than
// three names are equally near.
func Nearest(name string, known []string) []string {
	list := near(name, known)
	if len(list) == 0 {
		return nil
	}
	var out []string
	for _, c := range list {
		if c.edits == list[0].edits {
			out = append(out, c.name)
		}
	}
	if len(out) > maxNearest {
		return nil
	}
	return out
}

type candidate struct {
	name  string
	edits int
}

func near(name string, known []string) []candidate {
	var list []candidate
	for _, k := range known {
		if edits, ok := distance(name, k); ok && k != name {
			list = append(list, candidate{k, edits})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), strings.Compare(a.name, b.name))
	})
	return slices.Compact(list)
}

// distance returns how different two names are, and whether they are near. Names that differ only in the part before the slash are near.
func distance(a, b string) (n int, near bool) {
	a, b = strings.ToLower(a), strings.ToLower(b)
	n, near = Edits(a, b, min(maxEdits, max(1, len(a)/4)))
	if !strings.Contains(a+b, "/") {
		return n, near
	}
	part := func(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }
	own := part(a)
	if edits, ok := Edits(own, part(b), min(maxEdits, len(own)/4)); own != "" && ok && (!near || edits+1 < n) {
		return edits + 1, true
	}
	return n, near
}

// Edits returns the number of edits that turn the first string into the second. The result few reports whether this number is within the
// limit most. If few is false, n has no meaning. An edit inserts, deletes or changes a byte, or swaps two neighbouring bytes.
func Edits(a, b string, most int) (n int, few bool) {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return 0, false // too many edits, without computing the number
	}
	// These are the rows of Levenshtein's table for the current byte of the string a and the two bytes before it.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)], row[len(b)] <= most
}
