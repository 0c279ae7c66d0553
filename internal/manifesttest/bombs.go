package manifesttest

import "strings"

// AliasBomb returns YAML that doubles a list in each of n lines.
func AliasBomb(n int) string {
	var b strings.Builder
	name := func(i int) string { return "a" + strings.Repeat("a", i) }
	b.WriteString(name(0) + ": &" + name(0) + " [x, x]\n")
	for i := 1; i < n; i++ {
		b.WriteString(name(i) + ": &" + name(i) + " [*" + name(i-1) + ", *" + name(i-1) + "]\n")
	}
	return b.String()
}

// MergeBomb returns YAML with n mappings, each of which merges the mapping before it twice. The mappings stay small, but the work of the
// parser doubles with each mapping.
func MergeBomb(n int) string {
	var b strings.Builder
	name := func(i int) string { return "m" + strings.Repeat("m", i) }
	b.WriteString(name(0) + ": &" + name(0) + " {x: 1}\n")
	for i := 1; i < n; i++ {
		b.WriteString(name(i) + ": &" + name(i) + " {<<: [*" + name(i-1) + ", *" + name(i-1) + "]}\n")
	}
	return b.String()
}
