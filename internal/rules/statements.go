package rules

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Statements is one numbered list of the specification, and where it is answered for.
type Statements struct {
	// Prefix of the numbers: "SCH" of SCH-041.
	Prefix string
	// Numbers as ranges, ascending: "001-006 010".
	Numbers string
	// Differences are the files whose package comments list, under "# Deliberate differences", the statements that are not
	// followed, each with its reason.
	Differences []string
}

// Specification is the lists that the tree must answer for in full. A new list is one more line.
func Specification() []Statements {
	return []Statements{
		{"SCH", "001-006 010-014 020-027 030-033 040-044 050-054 060-066 070-075 078-082 090-094 100-107 110-113 115-122 125-128 130-131 135-137 140-141 145-146 150-177 180-182 190-194", []string{"scheduling/doc.go"}},
		{"AWI", "001-183 190-245", []string{"aws/doc.go", "aws/launch/doc.go", "aws/instances/doc.go"}},
		{"AWN", "001-368", []string{
			"aws/doc.go", "aws/amis/doc.go", "aws/api/v1/doc.go", "aws/iam/doc.go", "aws/instanceprofile/doc.go", "aws/interruption/doc.go",
			"aws/launchtemplate/doc.go", "aws/launchtemplate/userdata/doc.go", "aws/launchtemplates/doc.go", "aws/nodeclass/doc.go",
		}},
		{"PRV", "001-011 020-033 035-037 040-044 050-061 065-073 080-088 110 120-123 140-144 150-154 160 165 170-184", []string{"provisioning/doc.go"}},
		{"DIS", "001-319", []string{"disruption/doc.go"}},
		{"API", "001-468", []string{"aws/convert/doc.go", "api/v1alpha5/doc.go", "aws/api/v1alpha1/doc.go", "api/v1beta1/doc.go", "aws/api/v1beta1/doc.go"}},
		{"SET", "001-179", []string{"examples/settings/doc.go"}},
	}
}

// differencesHeading begins the list of what is deliberately different; it ends at the next heading.
const differencesHeading = "# Deliberate differences"

// CheckStatements finds statements of the specification that no test names, and that no list of deliberate differences
// gives a reason for; and numbers that tests or these lists name although there is no such statement. A test names a
// statement anywhere in its file, by its number or by a range ("SCH-070 to SCH-080"). fsys is the repository: the
// tests of nested modules count, the folders in except do not.
func CheckStatements(fsys fs.FS, lists []Statements, except ...string) ([]Fault, error) {
	tests := make(map[string]string)
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case !d.IsDir():
			if !strings.HasSuffix(name, "_test.go") {
				return nil
			}
			text, err := fs.ReadFile(fsys, name)
			tests[name] = string(text)
			return err
		case name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_' || slices.Contains(except, name)):
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the tests: %w", err)
	}
	var faults []Fault
	for _, list := range lists {
		found, err := list.check(fsys, tests)
		if err != nil {
			return nil, err
		}
		faults = append(faults, found...)
	}
	return sorted(faults), nil
}

// check is CheckStatements for one list.
func (s Statements) check(fsys fs.FS, tests map[string]string) ([]Fault, error) {
	numbers, err := s.numbers()
	if err != nil {
		return nil, err
	}
	named := make(map[int]bool)
	var faults []Fault
	note := func(where, text string) {
		for _, n := range s.namedIn(text) {
			named[n] = true
			if !slices.Contains(numbers, n) {
				faults = append(faults, fault(where, "names %s-%03d, and there is no such statement", s.Prefix, n))
			}
		}
	}
	for name, text := range tests {
		note(name, text)
	}
	for _, name := range s.Differences {
		text, err := fs.ReadFile(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, fault(name, "is to list deliberate differences, and is not there"))
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading deliberate differences: %w", err)
		}
		note(name, section(string(text), differencesHeading))
	}
	for _, n := range numbers {
		if !named[n] {
			faults = append(faults, fault(strings.Join(s.Differences, ", "),
				"no test names %s-%03d: name it in one that would fail without it, or list it here under %q with the reason", s.Prefix, n, differencesHeading))
		}
	}
	return faults, nil
}

// numbers spells out the ranges.
func (s Statements) numbers() ([]int, error) {
	var out []int
	for _, part := range strings.Fields(s.Numbers) {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err = errors.Join(err, err2); err != nil || last < first {
			return nil, fmt.Errorf("statements %s: %q is no range of numbers: %w", s.Prefix, part, err)
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out, nil
}

// namedIn are the numbers that a text names, ranges spelled out.
func (s Statements) namedIn(text string) []int {
	pattern := regexp.MustCompile(`\b(?:Test)?` + s.Prefix + `-?([0-9]{3})(?:\s+(?://\s+)?to\s+(?://\s+)?` + s.Prefix + `-([0-9]{3}))?`)
	var out []int
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[1])
		last, err := strconv.Atoi(m[2])
		if err != nil {
			last = first
		}
		for n := first; n <= last; n++ {
			out = append(out, n)
		}
	}
	return out
}

// section is the part of a comment under a heading, up to the next heading or the end of the comment.
func section(text, heading string) string {
	_, text, _ = strings.Cut(text, "// "+heading+"\n")
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "//") || strings.HasPrefix(line, "// # ") {
			break
		}
		out.WriteString(line)
	}
	return out.String()
}
