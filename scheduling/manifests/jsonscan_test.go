package manifests

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

func TestMalformedJSON(t *testing.T) {
	const head = "{\"apiVersion\": \"v1\", \"kind\": "
	for text, want := range map[string]string{
		`{"kind" "Pod"}`:                       "line 1: a colon is missing before '\"'",
		`{"kind": "Pod" "a": 1}`:               "line 1: a comma is missing before '\"'",
		"{\"kind\": \"Pod\",\n}":               "line 2: a field name in double quotes is missing before '}'",
		"{\"kind\":\n}":                        "line 2: a value is missing before '}'",
		`{"kind": "Pod`:                        "line 1: the text ends in the middle of an object",
		`{"kind": "P\`:                         "line 1: the text ends in the middle of an object",
		`{"kind": "\x"}`:                       "line 1: invalid character 'x' in string escape code",
		`{"kind": 5}`:                          "line 1: kind: must say what kind of object it is",
		head + "\"List\",\n\"items\": {}}":     "line 2: items must be a list",
		head + "\"List\", \"items\": [\n5]}":   "item 1, line 2: each item of a List must be an object",
		head + "\"List\", \"items\": [\n}]}":   "line 2: a comma is missing before ']'",
		head + "\"List\", \"items\": [{},\n]}": "item 1, line 2: a value is missing before ']'",
		head + "\"List\", \"items\": [\n" + head + "\"PodList\", \"items\": []}]}": "item 1, line 2: a List may not be an item of another List",
	} {
		t.Run(text, func(t *testing.T) {
			refused := refusal(t, Options{}, Source{"a", []byte(text)})
			for _, p := range refused.Problems {
				if p.Code == ProblemMalformed && strings.HasPrefix(p.Error(), "a: document 1, "+want) {
					return
				}
			}
			t.Errorf("problems %v, want %q", refused, want)
		})
	}
}

// The tree that finds lines holds what a real decoder reads.
func TestJSONTreeHoldsWhatJSONHolds(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		text := drawJSON(t, 4)
		root := jsonTree([]byte(text), span{0, len(text)}, 1, DefaultMaxDepth)
		w := jsonWriter{limit: 1 << 20, maxDepth: DefaultMaxDepth}
		if err := w.write(root, 0); err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal(w.out, &got); err != nil {
			t.Fatalf("%s: %v", w.out, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", text, diff)
		}
	})
}

func drawJSON(t *rapid.T, depth int) string {
	space := func() string { return rapid.SampledFrom([]string{"", " ", "\n", "\t"}).Draw(t, "space") }
	text := func() string {
		out, err := json.Marshal(rapid.String().Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	kinds := 7
	if depth == 0 {
		kinds = 5
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return "null"
	case 1:
		return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
	case 2, 3:
		return text()
	case 4:
		return rapid.SampledFrom([]string{"0", "-1", "1.5", "1e3", "1E-2", "9007199254740993"}).Draw(t, "number")
	}
	var parts []string
	n := rapid.IntRange(0, 3).Draw(t, "length")
	if rapid.Bool().Draw(t, "object") {
		for range n {
			parts = append(parts, space()+text()+space()+":"+space()+drawJSON(t, depth-1)+space())
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for range n {
		parts = append(parts, space()+drawJSON(t, depth-1)+space())
	}
	return "[" + strings.Join(parts, ",") + "]"
}
