package rules

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

var inBackquotes = regexp.MustCompile("`([^`]+)`")

// backquoted returns the pieces of Markdown in backquotes.
func backquoted(text string) []string {
	var pieces []string
	for _, m := range inBackquotes.FindAllStringSubmatch(text, -1) {
		pieces = append(pieces, m[1])
	}
	return pieces
}

// tableRow splits a row of a Markdown table into its cells. It returns nil for other lines, and for the line below a table's head.
func tableRow(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") || strings.Trim(line, "|-: ") == "" {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// anchors returns the names that links use for the headings of Markdown: lower case, with hyphens for spaces, and no other punctuation.
func anchors(markdown string) []string {
	var all []string
	inFence := false
	for _, line := range lines(markdown) {
		if strings.HasPrefix(line, "```") {
			inFence = !inFence
		}
		heading := strings.TrimLeft(line, "#")
		if inFence || heading == line || !strings.HasPrefix(heading, " ") {
			continue
		}
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading)))
	}
	return all
}

func unquote(literal string) string {
	s, err := strconv.Unquote(literal)
	if err != nil {
		return literal
	}
	return s
}

// Fence returns the text of the first fenced code block with the given language after the marker. The marker is a line such as <!-- quick
// start -->.
func Fence(markdown, marker, language string) (string, error) {
	from, to, err := fence(markdown, marker, language)
	if err != nil {
		return "", err
	}
	return markdown[from:to], nil
}

// SetFence returns the Markdown with a new text in the fenced code block that Fence finds.
func SetFence(markdown, marker, language, text string) (string, error) {
	from, to, err := fence(markdown, marker, language)
	if err != nil {
		return "", err
	}
	return markdown[:from] + text + markdown[to:], nil
}

// fence finds the first code block in the given language after the marker line. It returns the positions where the block's text begins and
// ends.
func fence(markdown, marker, language string) (from, to int, err error) {
	at := strings.Index(markdown, "\n"+marker+"\n")
	if at < 0 {
		return 0, 0, fmt.Errorf("no line %s", marker)
	}
	opening := "```" + language + "\n"
	start := strings.Index(markdown[at:], opening)
	if start < 0 {
		return 0, 0, fmt.Errorf("no ```%s block after %s", language, marker)
	}
	from = at + start + len(opening)
	length := strings.Index(markdown[from:], "```")
	if length < 0 {
		return 0, 0, fmt.Errorf("the block after %s has no end", marker)
	}
	return from, from + length, nil
}

// Program turns the source of a file with one Example into a program that a reader could run, with package main and the function main. It
// removes the expected output from the program and returns it separately.
func Program(example string) (program, output string, err error) {
	const expected = "\t// Output:\n"
	head, rest, found := strings.Cut(example, expected)
	if !found {
		return "", "", errors.New("the example has no output")
	}
	var out strings.Builder
	for strings.HasPrefix(rest, "\t// ") {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		out.WriteString(strings.TrimPrefix(line, "\t// ") + "\n")
	}
	program = head + rest
	for _, change := range [][2]string{{"package drawknife_test\n", "package main\n"}, {"func Example() {\n", "func main() {\n"}} {
		if strings.Count(program, change[0]) != 1 {
			return "", "", fmt.Errorf("the example does not have exactly one %q", strings.TrimSpace(change[0]))
		}
		program = strings.Replace(program, change[0], change[1], 1)
	}
	return program, out.String(), nil
}

// CheckPackageMap finds public packages and programs that the tables of packages in docs/packages.md do not link to, and links to folders
// that are not packages.
func CheckPackageMap(t *Tree, page string) []Fault {
	const file = "docs/packages.md"
	listed := make(map[string]bool)
	for _, line := range lines(page) {
		cells := tableRow(line)
		if len(cells) < 2 {
			continue
		}
		if m := linkedFolder.FindStringSubmatch(cells[0]); m != nil {
			listed[m[1]] = true
		}
	}
	var faults []Fault
	for dir, files := range t.packages() {
		public := dir != "" && !private(dir) && slices.ContainsFunc(files, func(f *File) bool { return !f.Test && !f.ignored() })
		if public && !listed[dir] {
			faults = append(faults, fault(file, "package %s is not in the table of packages", dir))
		}
		delete(listed, dir)
	}
	for dir := range listed {
		faults = append(faults, fault(file, "%s in the table of packages is no package", dir))
	}
	return sorted(faults)
}

// linkedFolder matches a Markdown link whose text is a folder and whose target is the path from docs to this folder.
var linkedFolder = regexp.MustCompile(`^\[([a-z0-9/]+)\]\(\.\./[a-z0-9/]+\)$`)
