package documents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/rules"
)

const root = "../.."

// TestStatesOfCommands compares the states in the drawing of a command's life with those that there are.
func TestStatesOfCommands(t *testing.T) {
	drawing, err := rules.Fence(read(t, root+"/docs/architecture.md"), "<!-- states -->", "mermaid")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^ +(\S+) --> (\S+?)(?::|$)`).FindAllStringSubmatch(drawing, -1) {
		for _, state := range m[1:] {
			if state != "[*]" && !slices.Contains(got, state) {
				got = append(got, state)
			}
		}
	}
	var want []string
	for _, state := range []disruption.State{
		disruption.StateApproving, disruption.StateDelayed, disruption.StateValidating, disruption.StateRecording, disruption.StateTainting,
		disruption.StateLaunching, disruption.StateWaiting, disruption.StateDeleting, disruption.StateUndoing, disruption.StateDone,
		disruption.StateFailed,
	} {
		want = append(want, string(state))
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("states (-there are +drawn):\n%s", diff)
	}
}

// drawing is a block of Mermaid in a document.
type drawing struct {
	Where, Text string
}

// TestDrawings has Mermaid draw the diagrams of all documents in a headless browser. It needs chromium, and DRAWKNIFE_MERMAID, the path
// of mermaid.min.js; package rules checks their syntax without either.
func TestDrawings(t *testing.T) {
	script := os.Getenv("DRAWKNIFE_MERMAID")
	if script == "" {
		t.Skip("DRAWKNIFE_MERMAID names no mermaid.min.js: nothing is drawn")
	}
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium: nothing is drawn")
	}
	drawings := allDrawings(t)
	if len(drawings) == 0 {
		t.Fatal("no document has a drawing")
	}
	page := filepath.Join(t.TempDir(), "page.html")
	file, err := os.Create(page)
	if err != nil {
		t.Fatal(err)
	}
	if err := drawingPage().Execute(file, map[string]any{"Script": template.URL("file://" + script), "Drawings": drawings}); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
		"--virtual-time-budget=60000", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+page)
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("drawing: %v", err)
	}
	_, rest, _ := strings.Cut(string(dom), `<pre id="out">`)
	out, _, found := strings.Cut(rest, "</pre>")
	var faults map[string]string
	if err := json.Unmarshal([]byte(out), &faults); !found || err != nil {
		t.Fatalf("the browser did not get to the end: %v\n%.2000s", err, dom)
	}
	for where, fault := range faults {
		t.Errorf("%s: %s", where, fault)
	}
	t.Logf("%d drawings were drawn", len(drawings))
}

// drawingPage draws everything and leaves what failed, as JSON, in the element "out".
func drawingPage() *template.Template {
	return template.Must(template.New("page").Parse(`<!DOCTYPE html><meta charset="utf-8"><pre id="out"></pre><div id="stage"></div>
<script src="{{.Script}}"></script>
<script>
const drawings = {{.Drawings}};
(async () => {
	const faults = {};
	mermaid.initialize({startOnLoad: false});
	for (let i = 0; i < drawings.length; i++) {
		try {
			const {svg} = await mermaid.render("drawing" + i, drawings[i].Text);
			if (!svg.includes("<svg")) faults[drawings[i].Where] = "nothing was drawn";
		} catch (e) {
			faults[drawings[i].Where] = String(e).replace(/[<>&]/g, " ");
		}
	}
	document.getElementById("stage").remove();
	document.getElementById("out").textContent = JSON.stringify(faults);
})();
</script>
`))
}

// allDrawings are those of all documents.
func allDrawings(t *testing.T) []drawing {
	t.Helper()
	var out []drawing
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if base := filepath.Base(name); err == nil && name != "." && (base == "testdata" || base[0] == '.') {
				return fs.SkipDir
			}
			return err
		}
		if filepath.Ext(name) != ".md" {
			return nil
		}
		text, inside, from := "", false, 0
		for i, line := range strings.Split(read(t, filepath.Join(root, name)), "\n") {
			switch trimmed := strings.TrimSpace(line); {
			case trimmed == "```mermaid":
				text, inside, from = "", true, i+1
			case inside && trimmed == "```":
				out, inside = append(out, drawing{fmt.Sprintf("%s:%d", name, from), text}), false
			case inside:
				text += line + "\n"
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
