package rules_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/internal/rules"
)

func TestCountWords(t *testing.T) {
	got := rules.CountWords([]string{"machine", "tell"}, map[string]string{
		"a": "A machine, two Machines: machineOptions tellsNobody. Machinery, teller.", "b": "tell_it TELL",
	})
	if diff := cmp.Diff(map[string]int{"machine": 3, "tell": 3}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCheckWords(t *testing.T) {
	words, err := rules.RetiredWords("# G\n<!-- retired words -->\n| Word | Use instead |\n|---|---|\n| machine | node |\n| anew | again |\n\n| else | x |\n")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]rules.WordCount{"machine": {Code: 3, Documents: 1}}
	for name, c := range map[string]struct {
		recorded string
		want     []string
	}{
		"as recorded": {"machine 3 1\nanew 0 0\n", nil},
		"fewer":       {"machine 4 2\nanew 1 0\n", nil},
		"more":        {"machine 2 1\nanew 0 0\n", []string{`w: "machine" occurs 3 times in code, and may occur 2 times: docs/glossary.md says what to use instead`}},
		"no line":     {"machine 3 1\n", []string{`w: has no line for the retired word "anew"`}},
	} {
		t.Run(name, func(t *testing.T) {
			recorded, err := rules.ParseWordCounts(c.recorded)
			if err != nil {
				t.Fatal(err)
			}
			wantFaults(t, c.want, rules.CheckWords("w", words, recorded, counts))
		})
	}
	if got := rules.FormatWordCounts(words, counts); got != "machine 3 1\nanew 0 0\n" {
		t.Errorf("got %q", got)
	}
	for _, broken := range []string{"machine 3\n", "machine x 1\n"} {
		if _, err := rules.ParseWordCounts(broken); err == nil {
			t.Errorf("%q was taken for counts", broken)
		}
	}
	if _, err := rules.RetiredWords("# G\n"); err == nil {
		t.Error("a glossary without the table was taken")
	}
}

// TestWords counts the words that docs/glossary.md retires, in this very tree: their numbers may only fall.
func TestWords(t *testing.T) {
	const glossary, file = "docs/glossary.md", "internal/rules/testdata/words.txt"
	words, err := rules.RetiredWords(read(t, glossary))
	if err != nil {
		t.Fatal(err)
	}
	code, documents := make(map[string]string), make(map[string]string)
	walk(t, func(name string) {
		base := path.Base(name)
		switch path.Ext(name) {
		case ".go":
			if !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(base, "zz_generated") && base != "mock.go" {
				code[name] = read(t, name)
			}
		case ".md":
			if name != glossary && name != "CHANGELOG.md" && !strings.HasPrefix(name, "docs/spec/") && !strings.HasPrefix(name, "docs/conformance/") {
				documents[name] = read(t, name)
			}
		}
	})
	inCode, inDocuments := rules.CountWords(words, code), rules.CountWords(words, documents)
	counts := make(map[string]rules.WordCount)
	for _, w := range words {
		counts[w] = rules.WordCount{Code: inCode[w], Documents: inDocuments[w]}
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, file), []byte(rules.FormatWordCounts(words, counts)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := rules.ParseWordCounts(read(t, file))
	if err != nil {
		t.Fatal(err)
	}
	report(t, rules.CheckWords(file, words, recorded, counts))
}
