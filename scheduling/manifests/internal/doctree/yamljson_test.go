package doctree

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/internal/manifesttest"
)

// yamlToJSON writes the JSON of a document with one document.
func yamlToJSON(text string, limit int) (string, error) {
	docs, err := ParseYAML([]byte(text))
	if err != nil || len(docs) == 0 {
		return "null", err
	}
	w := JSONWriter{Limit: limit, MaxDepth: mostDepth}
	err = w.Write(docs[0], 0)
	return string(w.Out), err
}

// What kubectl makes of a document is the measure: it reads YAML with the library that this test compares with.
func TestYAMLMeansWhatItMeansToKubectl(t *testing.T) {
	for name, text := range map[string]string{
		"plain words":        "a: b\nc: d e f\n",
		"yes and no":         "[yes, No, ON, off, y, N, true, False, yEs, yess]",
		"quoted words":       `["yes", 'no', "1", '1.5', "null", "~"]`,
		"null":               "[null, ~, Null, ]\n",
		"missing value":      "a:\nb: 1\n",
		"integers":           "[0, 1, -1, +5, 007, 0o17, 0x1F, 0b101, 1_000, 9223372036854775807, 18446744073709551615]",
		"floats":             "[1.5, 1e3, 1E-2, .5, -0.25, 6.02e23, 100000000000000000000000]",
		"versions":           "[1.2.3, v1, 1:2, 12:30:45]",
		"dates stay text":    "[2026-01-31, '2026-01-31', 2026-01-31T12:00:00Z]",
		"number keys":        "1: a\n2.5: b\ntrue: c\nyes: d\n",
		"block text":         "a: |\n  one\n  two\nb: >-\n  one\n  two\n",
		"escapes":            `a: "tab\t quote\" back\\ nul\0 bell\a é \u263a \n"` + "\n",
		"control characters": "a: \"\\e[0m\"\nb: \"\\x7f\"\n",
		"html":               "a: <b>&amp;</b>\n",
		"anchors":            "a: &x {b: 1}\nc: *x\nd: [*x, *x]\n",
		"scalar anchors":     "a: &x hello\nb: *x\n",
		"merge":              "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\n",
		"merge list":         "a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc:\n  <<: [*x, *y]\n  r: 1\n",
		"nested merge":       "a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y, r: 3}\n",
		"quoted merge key":   "a: {\"<<\": 1}\n",
		"tags":               "a: !!str 5\nb: !!int \"5\"\nc: !custom x\n",
		"empty":              "{}",
		"nested":             "a:\n- b:\n  - c: [{d: e}]\n",
		"quantities":         "[500m, 2Gi, 1.5, 100]",
	} {
		t.Run(name, func(t *testing.T) {
			want, err := sigsyaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatalf("the reference can't read it: %v", err)
			}
			got, err := yamlToJSON(text, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, string(want)), decoded(t, got)); diff != "" {
				t.Errorf("kubectl reads %s, we %s (-want +got):\n%s", want, got, diff)
			}
		})
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestYAMLRefusesWhatIsNotJSON(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"complex key":    {"? [a, b]\n: c\n", errComplexKey},
		"too deep":       {strings.Repeat("[", mostDepth+2) + strings.Repeat("]", mostDepth+2), ErrTooDeep},
		"endless alias":  {"a: &a [*a]\n", ErrTooDeep},
		"alias bomb":     {manifesttest.AliasBomb(20), ErrAliases},
		"alias of text":  {"a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a,", 10_000) + "]\n", ErrAliases},
		"merge bomb":     {manifesttest.MergeBomb(40), ErrAliases},
		"endless merge":  {"a: &a\n  <<: *a\n", ErrTooDeep},
		"merge of text":  {"a: {<<: 1}\n", errMerge},
		"merge of texts": {"a: {<<: [1]}\n", errMerge},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := yamlToJSON(c.text, 1<<20)
			var syntax *SyntaxError
			if errors.As(err, &syntax) && strings.Contains(syntax.message, "anchor 'a' value contains itself") {
				return // the parser is quicker to refuse it
			}
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
}
