package main

import (
	"cmp"
	"slices"
	"strings"
)

// nearWords are those of words that someone who wrote word may have meant, the nearest first, at most so many: few letters
// differ, from the whole or from what follows its last slash.
func nearWords(word string, words []string, most int) []string {
	type near struct {
		word string
		off  int
	}
	own := func(w string) string { return w[strings.LastIndex(w, "/")+1:] }
	var list []near
	for _, w := range words {
		off, ok := fewEdits(word, w)
		if part, also := fewEdits(own(word), own(w)); also && (!ok || part+1 < off) {
			off, ok = part+1, true
		}
		if ok {
			list = append(list, near{w, off})
		}
	}
	slices.SortFunc(list, func(a, b near) int { return cmp.Or(cmp.Compare(a.off, b.off), strings.Compare(a.word, b.word)) })
	var out []string
	for _, n := range list[:min(most, len(list))] {
		out = append(out, n.word)
	}
	return out
}

// fewEdits is the editDistance of two words, if it is small for such a word.
func fewEdits(word, other string) (n int, few bool) {
	limit := max(min(2, len(word)/3), len(word)/4)
	if d := len(other) - len(word); d > limit || -d > limit {
		return 0, false // and not worth the time
	}
	n = editDistance(word, other)
	return n, n <= limit
}

// editDistance is how many bytes have to be put in, left out or changed to make one of the other (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0] // of the row before, one to the left
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}
