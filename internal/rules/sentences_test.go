package rules

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	source := `// Package x does one thing. It does it well enough.
package x

import "fmt"

// F returns what it got. The rest is
// its caller's business.
// +optional: a marker for a generator
func F() error {
	// Three comes first because two is taken.
	//   - An item of a list may
	//     continue on its next line.
	//
	//     this line is a code block
	log.Info("launched three instances")
	return fmt.Errorf("cannot find the node %q", "n")
}

var s = define("a", "A", kind, nil, "set how many there are")

type t struct {
	A int // A is how many there are of it.
}
`
	tree, err := ParseTree(fstest.MapFS{"x.go": {Data: []byte(source)}, "x_test.go": {Data: []byte("package x\n\n// Nobody reads this comment here.\n")}})
	if err != nil {
		t.Fatal(err)
	}
	got := Sentences(tree, map[string]string{"a.md": "# A heading of four words\n\nRead this page first. Then `go test` will run it all.\n\n- one item of four\n- two of these items\n\n```\nthis is code to run\n```\n"})
	want := []Sentence{
		{DocComment, "x.go:1", "Package x does one thing."},
		{DocComment, "x.go:1", "It does it well enough."},
		{DocComment, "x.go:6", "F returns what it got."},
		{DocComment, "x.go:6", "The rest is its caller's business."},
		{InnerComment, "x.go:10", "Three comes first because two is taken."},
		{InnerComment, "x.go:10", "- An item of a list may continue on its next line."},
		{InnerComment, "x.go:22", "A is how many there are of it."},
		{LogMessage, "x.go:15", "launched three instances"},
		{ErrorMessage, "x.go:16", "cannot find the node %q"},
		{CommandHelp, "x.go:19", "set how many there are"},
		{DocumentText, "a.md", "Read this page first."},
		{DocumentText, "a.md", "Then `go test` will run it all."},
		{DocumentText, "a.md", "- one item of four"},
		{DocumentText, "a.md", "- two of these items"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Anyone who grades a sample must be able to draw it again.
func TestDrawSentences(t *testing.T) {
	all := []Sentence{{Kind: LogMessage, Text: "1"}, {Kind: DocComment, Text: "2"}, {Kind: DocComment, Text: "3"}, {Kind: DocComment, Text: "4"}}
	once, again := DrawSentences(all, 3, 7), DrawSentences(all, 3, 7)
	if diff := cmp.Diff(once, again); diff != "" || len(once) != 3 || once[1] != all[0] {
		t.Errorf("drew %v and %v: want the same 3, with the only log message second", once, again)
	}
	if len(DrawSentences(all, 10, 7)) != len(all) {
		t.Error("a sample larger than all is not all")
	}
}
