package rules

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Statements is one numbered list of statements of the specification.
type Statements struct {
	// Prefix is the prefix of the numbers: "SCH" of SCH-041.
	Prefix string
	// Pages are the pages of docs/spec that have the statements. A list has exactly one page if it is not Optional.
	Pages []string
	// Optional is true for a list of improvements over the reference. Tests need not name the statements of such a list.
	Optional bool
}

// Specification returns the lists of statements that tests must name. To add a list, add a line.
func Specification() []Statements {
	const spec = "docs/spec/"
	return []Statements{
		{"SCH", []string{spec + "scheduling.md"}, false},
		{"PRV", []string{spec + "provisioning.md"}, false},
		{"DIS", []string{spec + "disruption.md"}, false},
		{"AWI", []string{spec + "aws-instances.md"}, false},
		{"AWN", []string{spec + "aws-nodeclass.md"}, false},
		{"API", []string{spec + "api-generations.md"}, false},
		{"SET", []string{spec + "settings.md"}, false},
		{"OPP", []string{spec + "scheduling.md", spec + "provisioning.md", spec + "aws-instances.md"}, true},
	}
}

// differencesLink is part of each statement that the project intentionally does not follow. It is the beginning of a link to the reason for
// the difference.
const differencesLink = "](../differences.md#"

// CheckStatements finds statements of the specification that no test names and that have no link to a reason. It also finds numbers in
// tests for which no statement exists, and numbers that two statements share. A test names a statement anywhere in its file, by its number
// or by a range of numbers. fsys is the repository. The tests include the tests of nested modules, but not the tests in the folders of the
// parameter except.
func CheckStatements(fsys fs.FS, lists []Statements, except ...string) ([]Fault, error) {
	tests := make(map[string]string)
	err := goFiles(fsys, except, func(name, text string) {
		if strings.HasSuffix(name, "_test.go") {
			tests[name] = text
		}
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

// goFiles calls visit for all Go files of the repository, including those of nested modules. It leaves out test data, and the folders in
// the parameter except.
func goFiles(fsys fs.FS, except []string, visit func(name, text string)) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case !d.IsDir():
			if path.Ext(name) != ".go" {
				return nil
			}
			text, err := fs.ReadFile(fsys, name)
			visit(name, string(text))
			return err
		case name != "." && (base == "testdata" || base[0] == '.' || base[0] == '_' || slices.Contains(except, name)):
			return fs.SkipDir
		}
		return nil
	})
}

// statement is one statement of the specification, in one line of a page.
type statement struct {
	where string
	// differs is true if the project does not follow the statement and the statement links to the reason.
	differs bool
}

// check does what CheckStatements does, for one list of statements.
func (s Statements) check(fsys fs.FS, tests map[string]string) ([]Fault, error) {
	known, faults, err := s.read(fsys)
	if err != nil {
		return nil, err
	}
	named := make(map[int]bool)
	for name, text := range tests {
		for _, n := range s.namedIn(text) {
			named[n] = true
			if _, ok := known[n]; !ok {
				faults = append(faults, fault(name, "names %s, and there is no such statement", s.number(n)))
			}
		}
	}
	for n, st := range known {
		if !named[n] && !st.differs && !s.Optional {
			faults = append(faults, fault(st.where,
				"no test names %s: name it in one that would fail without it, or link it to the reason in docs/differences.md", s.number(n)))
		}
	}
	return faults, nil
}

// read returns the statements on the pages of the list. It finds each statement by its anchor.
func (s Statements) read(fsys fs.FS) (map[int]statement, []Fault, error) {
	anchor := regexp.MustCompile(`<a id="` + strings.ToLower(s.Prefix) + `-([0-9]+)"></a>`)
	known := make(map[int]statement)
	var faults []Fault
	for _, page := range s.Pages {
		text, err := fs.ReadFile(fsys, page)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the specification: %w", err)
		}
		for i, line := range lines(string(text)) {
			m := anchor.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			n, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, nil, fmt.Errorf("reading the specification: %s:%d: %w", page, i+1, err)
			}
			where := fmt.Sprintf("%s:%d", page, i+1)
			if _, again := known[n]; again && !s.Optional {
				faults = append(faults, fault(where, "another statement has the number %s", s.number(n)))
			}
			known[n] = statement{where, strings.Contains(line, differencesLink)}
		}
	}
	return known, faults, nil
}

func (s Statements) number(n int) string {
	if s.Optional {
		return fmt.Sprintf("%s-%d", s.Prefix, n)
	}
	return fmt.Sprintf("%s-%03d", s.Prefix, n)
}

// namedIn returns the numbers of the statements that a text names. For a range, it returns each number in the range.
func (s Statements) namedIn(text string) []int {
	digits := "[0-9]{3}"
	if s.Optional {
		digits = "[0-9]{1,2}"
	}
	pattern := regexp.MustCompile(`\b(?:Test)?` + s.Prefix + `-?(` + digits + `)(?:\s+(?://\s+)?to\s+(?://\s+)?` + s.Prefix + `-(` + digits + `))?`)
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

// CountCitations counts, by folder, the statements that shipped code names. Shipped code is all Go files except tests. Shipped code should
// name no statements, because its users can't be expected to read the specification.
func CountCitations(fsys fs.FS, lists []Statements, except ...string) (map[string]int, error) {
	counts := make(map[string]int)
	err := goFiles(fsys, except, func(name, text string) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, list := range lists {
			digits := `[0-9]{1,3}\b`
			if n := len(regexp.MustCompile(`\b`+list.Prefix+`-`+digits).FindAllString(text, -1)); n > 0 {
				counts[path.Dir(name)] += n
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("counting citations: %w", err)
	}
	return counts, nil
}

// CheckCitations finds folders whose code names more statements of the specification than the recorded number.
func CheckCitations(file string, recorded, counts map[string]int) []Fault {
	var faults []Fault
	for dir, n := range counts {
		if n > recorded[dir] {
			faults = append(faults, fault(file, "code in %s names %d statements of the specification, and may name %d: say it in words, or link to docs/differences.md", dir, n, recorded[dir]))
		}
	}
	return sorted(faults)
}
