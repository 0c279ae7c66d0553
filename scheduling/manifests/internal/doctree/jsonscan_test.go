package doctree

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// The tree that finds lines holds what a real decoder reads.
func TestJSONTreeHoldsWhatJSONHolds(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		text := drawJSON(t, 4)
		root := JSONTree([]byte(text), Span{0, len(text)}, 1, mostDepth)
		w := JSONWriter{Limit: 1 << 20, MaxDepth: mostDepth}
		if err := w.Write(root, 0); err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal(w.Out, &got); err != nil {
			t.Fatalf("%s: %v", w.Out, err)
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
