package convert

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// contextLines is the number of lines around a change.
	contextLines = 3
	// maxCells limits the size of the table in which middle looks for common lines. Larger differences are shown as one change.
	maxCells = 4_000_000
)

// edit is a line of a diff: sign is ' ', '-' or '+', and text is the line with its line end.
type edit struct {
	sign byte
	text string
}

// unifiedDiff returns the difference of two texts in the format of "diff -u", or "" if they are equal.
func unifiedDiff(name, before, after string) string {
	if before == after {
		return ""
	}
	edits := editsOf(slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after)))
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%[1]s\n+++ b/%[1]s\n", strings.TrimPrefix(name, "/"))
	for from := 0; from < len(edits); {
		first := slices.IndexFunc(edits[from:], func(e edit) bool { return e.sign != ' ' })
		if first < 0 {
			break
		}
		first += from
		last := first // the last change of the hunk
		for i := first; i < len(edits) && i-last <= 2*contextLines; i++ {
			if edits[i].sign != ' ' {
				last = i
			}
		}
		writeHunk(&b, edits, max(from, first-contextLines), min(len(edits), last+1+contextLines))
		from = last + 1
	}
	return b.String()
}

func writeHunk(b *strings.Builder, edits []edit, from, to int) {
	old, next, oldLines, nextLines := 1, 1, 0, 0
	count := func(e edit, old, next *int) {
		if e.sign != '+' {
			*old++
		}
		if e.sign != '-' {
			*next++
		}
	}
	for _, e := range edits[:from] {
		count(e, &old, &next)
	}
	for _, e := range edits[from:to] {
		count(e, &oldLines, &nextLines)
	}
	if oldLines == 0 {
		old--
	}
	if nextLines == 0 {
		next--
	}
	fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", old, oldLines, next, nextLines)
	for _, e := range edits[from:to] {
		b.WriteByte(e.sign)
		b.WriteString(e.text)
		if !strings.HasSuffix(e.text, "\n") {
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// editsOf returns the edits that turn one list of lines into another.
func editsOf(before, after []string) []edit {
	var head, tail []edit
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		head = append(head, edit{' ', before[0]})
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		tail = append(tail, edit{' ', before[len(before)-1]})
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	slices.Reverse(tail)
	return slices.Concat(head, middle(before, after), tail)
}

// middle returns the edits between two lists of lines. Unchanged lines are a longest common subsequence of both lists.
func middle(before, after []string) []edit {
	n, m := len(before), len(after)
	var out []edit
	if n*m > maxCells {
		for _, line := range before {
			out = append(out, edit{'-', line})
		}
		for _, line := range after {
			out = append(out, edit{'+', line})
		}
		return out
	}
	common := make([]int32, (n+1)*(m+1)) // the length of the longest common subsequence of before[i:] and after[j:], for each i and j
	at := func(i, j int) *int32 { return &common[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if *at(i, j) = max(*at(i+1, j), *at(i, j+1)); before[i] == after[j] {
				*at(i, j) = *at(i+1, j+1) + 1
			}
		}
	}
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && before[i] == after[j]:
			out = append(out, edit{' ', before[i]})
			i, j = i+1, j+1
		case i < n && (j == m || *at(i+1, j) >= *at(i, j+1)):
			out = append(out, edit{'-', before[i]})
			i++
		default:
			out = append(out, edit{'+', after[j]})
			j++
		}
	}
	return out
}
