package convert

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// mutation changes a manifest. Random choices come from the generator, which is seeded with the manifest.
type mutation struct {
	name string
	// meaning means that the changed manifest has the same meaning, so that the result must be the same. Only manifests without block
	// scalars keep their meaning.
	meaning bool
	change  func(lines []string, r *rand.Rand) []string
}

const strayField = "yardstickStray"

var fieldLine = regexp.MustCompile(`^(\s*(?:- )?)([A-Za-z][A-Za-z0-9_.-]*):( .*)?$`)

// mutations are the changes that TestYardstick makes. Each gets a copy of the lines.
var mutations = []mutation{
	{"drop a field", false, func(lines []string, r *rand.Rand) []string {
		at := someField(lines, r)
		return append(lines[:at], lines[at+1:]...)
	}},
	{"a key twice", false, func(lines []string, r *rand.Rand) []string {
		at := someField(lines, r)
		return insert(lines, at, strings.Replace(lines[at], "- ", "  ", 1))
	}},
	{"another type", false, func(lines []string, r *rand.Rand) []string {
		at := someField(lines, r)
		m := fieldLine.FindStringSubmatch(lines[at])
		lines[at] = m[1] + m[2] + ": " + []string{"[a]", "{a: b}", "true", "1.5", "null", `"text"`}[r.IntN(6)]
		return lines
	}},
	{"an unknown field", false, func(lines []string, _ *rand.Rand) []string {
		for i, line := range lines {
			if strings.TrimRight(line, " ") == "spec:" && i+1 < len(lines) {
				next := lines[i+1]
				return insert(lines, i+1, next[:len(next)-len(strings.TrimLeft(next, " "))]+strayField+": 1")
			}
		}
		return lines
	}},
	{"tabs", false, func(lines []string, r *rand.Rand) []string {
		at := someField(lines, r)
		lines[at] = "\t" + lines[at]
		return lines
	}},
	{"wrong indentation", false, func(lines []string, r *rand.Rand) []string {
		at := someField(lines, r)
		lines[at] = " " + lines[at]
		return lines
	}},
	{"cut short", false, func(lines []string, r *rand.Rand) []string {
		at := someField(lines, r)
		lines[at] = lines[at][:len(lines[at])/2]
		return lines[:at+1]
	}},
	{"line ends of Windows", true, eachLine(func(line string) string { return line + "\r" })},
	{"trailing spaces", true, eachLine(func(line string) string { return line + "  " })},
	{"comments", true, eachLine(func(line string) string { return "# a comment\n" + line + " # another: comment" })},
	{"deeper indentation", true, eachLine(func(line string) string { return "  " + line })},
	{"an anchor", true, func(lines []string, _ *rand.Rand) []string {
		for i, line := range lines {
			if m := fieldLine.FindStringSubmatch(line); m != nil && strings.TrimSpace(m[3]) != "" && m[2] == "name" {
				lines[i] = m[1] + m[2] + ": &anchor" + m[3]
				break
			}
		}
		return lines
	}},
}

func eachLine(change func(string) string) func([]string, *rand.Rand) []string {
	return func(lines []string, _ *rand.Rand) []string {
		for i, line := range lines {
			if line != "" && !strings.HasPrefix(line, "---") {
				lines[i] = change(line)
			}
		}
		return lines
	}
}

func insert(lines []string, at int, line string) []string {
	return append(lines[:at:at], append([]string{line}, lines[at:]...)...)
}

// someField returns the number of a line with a field.
func someField(lines []string, r *rand.Rand) int {
	for {
		if at := r.IntN(len(lines)); fieldLine.MatchString(lines[at]) {
			return at
		}
	}
}

var (
	blockScalar = regexp.MustCompile(`(?m): *[|>][0-9+-]*\s*(#.*)?$`)
	// flowLines matches a flow collection that goes over several lines, or text over several lines: neither takes a comment anywhere.
	flowLines = regexp.MustCompile(`(?m)[\[{,]\s*(#.*)?$|^\s*[\]}]`)
	// named matches a message that names the file and a line, or the object.
	named = regexp.MustCompile(`manifest\.yaml:[0-9]+ \(|(INFO|WARN|ERROR) W[0-9]{3} [A-Za-z0-9]+/\S*|--allow-variables: the result does not have|no objects to convert`)
)

// checkMutations changes a manifest that is converted, in several ways. The command must convert the result, or name the place of the error.
func checkMutations(t *testing.T, text, outcome string) {
	t.Helper()
	if strings.HasPrefix(outcome, outcomeRefused) {
		return
	}
	_, want, warnings := convertText(t, text)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text))
	for i, m := range mutations {
		if m.meaning && (blockScalar.MatchString(text) || flowLines.MatchString(text)) {
			continue
		}
		changed := strings.Join(m.change(strings.Split(strings.TrimSuffix(text, "\n"), "\n"), rand.New(rand.NewPCG(hash.Sum64(), uint64(i)))), "\n") + "\n"
		if err := mutated(t, m, changed, want, warnings); err != nil {
			t.Errorf("%s: %v\n%s", m.name, err, changed)
		}
	}
}

// mutated returns what is wrong with the conversion of a changed manifest.
func mutated(t *testing.T, m mutation, changed, want, warnings string) (err error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	code, out, errs := convertText(t, changed)
	switch {
	case m.meaning && (code != exitConverted || out != want || errs != warnings):
		return fmt.Errorf("status %d, another result:\n%s%s", code, out, errs)
	case code == exitConverted && out == "":
		return fmt.Errorf("no result: %s", errs)
	case code != exitConverted && !named.MatchString(errs):
		return fmt.Errorf("status %d, and no place: %s", code, errs)
	case strings.Contains(changed, strayField) && !otherKind.MatchString(changed) && code == exitConverted && !strings.Contains(errs, strayField):
		return fmt.Errorf("the unknown field is not mentioned: %s", errs)
	}
	return nil
}
