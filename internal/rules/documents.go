package rules

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

var inBackquotes = regexp.MustCompile("`([^`]+)`")

// backquoted are the pieces of Markdown in backquotes.
func backquoted(text string) []string {
	var pieces []string
	for _, m := range inBackquotes.FindAllStringSubmatch(text, -1) {
		pieces = append(pieces, m[1])
	}
	return pieces
}

// tableRow splits a row of a Markdown table into its cells; nil for other lines and for the rule below a table's head.
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

func unquote(literal string) string {
	s, err := strconv.Unquote(literal)
	if err != nil {
		return literal
	}
	return s
}

// Fence is the text of the first block of Markdown fenced as the given language after the marker, a line of its own such
// as <!-- quick start -->.
func Fence(markdown, marker, language string) (string, error) {
	_, after, found := strings.Cut(markdown, "\n"+marker+"\n")
	if !found {
		return "", fmt.Errorf("no line %s", marker)
	}
	_, body, found := strings.Cut(after, "```"+language+"\n")
	if !found {
		return "", fmt.Errorf("no ```%s block after %s", language, marker)
	}
	body, _, found = strings.Cut(body, "```")
	if !found {
		return "", fmt.Errorf("the block after %s does not end", marker)
	}
	return body, nil
}

// Program turns the source of a file with one Example into the program a reader would write: package main, the function
// main, no expected output, which comes back by itself.
func Program(example string) (program, output string, err error) {
	const expected = "\t// Output:\n"
	head, rest, found := strings.Cut(example, expected)
	if !found {
		return "", "", errors.New("the example states no output")
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
			return "", "", fmt.Errorf("the example has no single %q", strings.TrimSpace(change[0]))
		}
		program = strings.Replace(program, change[0], change[1], 1)
	}
	return program, out.String(), nil
}
