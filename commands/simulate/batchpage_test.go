package simulate

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The commands of docs/batch.md run, and print what the page shows.
func TestBatchPage(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("docs/batch.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(text)) {
		args, ok := strings.CutPrefix(line, "$ simulate ")
		if !ok {
			continue
		}
		ran++
		var stdout, stderr bytes.Buffer
		if code := Run(context.Background(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr, Options{}); code != 0 && code != 2 {
			t.Errorf("%s: exit status %d\n%s", line, code, &stderr)
		}
		_, shown, _ := strings.Cut(string(text), line)
		shown, _, _ = strings.Cut(shown, "```")
		shown, _, _ = strings.Cut(shown, "…\n")
		printed := stdout.String()
		if !strings.HasPrefix(printed, shown) {
			t.Errorf("%s prints other than the page shows (-page +printed):\n%s", line, cmp.Diff(shown, printed))
		}
	}
	if ran < 2 {
		t.Errorf("the page has %d commands", ran)
	}
}
