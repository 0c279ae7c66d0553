package report_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/commands/simulate/internal/report"
)

// example is a page with all parts. The names are long, and one tries to be markup.
func example(nodes int) *report.Page {
	p := &report.Page{
		Title: "A plan for <b>shop</b> & more", Subtitle: "deploy/, nodepool.yaml", Facts: []report.Fact{{"pods with a place", "71 of 72"}, {"cost per hour", "$1.3940"}},
		Remarks: []string{"Prices: on-demand list of 2026-07-20, us-east-1"},
		Comparisons: []report.Comparison{{Title: "What the new nodes cost", Bars: []report.Bar{
			{Name: "this plan", Value: 1.394, Text: "$1.3940"}, {Name: "the same nodes on demand", Value: 2.8, Text: "$2.8000"}, {Name: "lower bound", Value: 1.39, Text: "$1.3900", Note: "no plan costs less"},
		}}},
		Charts: []report.Chart{
			{Title: "Cost over time", Series: []report.Series{{Name: "all nodes", Values: []float64{1, 3, 2, math.NaN()}}}, Value: money, Time: day, Events: []report.Event{
				{At: 0.5, Kind: "interruption", Text: "general-1"}, {At: 0.25, Kind: "command", Text: "delete <x>"}, {At: 7, Kind: "command", Text: "late"},
			}},
			{Title: "Mix", Stacked: true, Series: []report.Series{{Name: "spot", Values: []float64{1, 2, 2}}, {Name: "on-demand", Values: []float64{1, 1}}}, Value: money, Time: day},
		},
		Steps: &report.Steps{Title: "Steps", Steps: []report.Step{
			{Title: "Delete node a", Lines: []string{"3 pods move to b"}, Bar: report.Bar{Name: "cost after it", Value: 2, Text: "$2"}},
			{Title: "Replace node c", Lines: []string{"1 pod moves"}, Bar: report.Bar{Name: "cost after it", Value: 1, Text: "$1"}},
		}},
		Tables: []report.Table{{Title: "Pods without a place", Columns: []report.Column{{Title: "Pod"}, {Title: "Reason"}}, Rows: [][]string{
			{"shop/" + strings.Repeat("a-very-long-name-", 12), "no instance type fits: of 1345, 1312 don't meet the requirements"},
		}, More: 3}},
	}
	packing := report.Packing{Title: "The new nodes", Resources: []string{"CPU", "memory", "GPU"}}
	for i := range nodes {
		n := report.Node{Name: fmt.Sprintf("general-%d", i), Kind: "m7g.16xlarge in us-east-1a, on-demand", Price: "$2.6112", Mark: "new"}
		for w := range 10 {
			n.Blocks = append(n.Blocks, report.Block{Workload: fmt.Sprintf("Deployment shop/web-%d", (i+w)%40), Pods: w + 1, Shares: []float64{0.09, 0.05 + float64(i%7)/100}})
		}
		packing.Nodes = append(packing.Nodes, n)
	}
	p.Packings = []report.Packing{packing}
	return p
}

func money(x float64) string { return fmt.Sprintf("$%g", x) }
func day(at float64) string  { return fmt.Sprintf("day %g", 30*at) }

func written(t *testing.T, p *report.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page loads nothing, escapes all texts, and is small even for a large cluster.
func TestPageIsSelfContained(t *testing.T) {
	page := written(t, example(5000))
	for _, no := range []string{"http:", "https:", "src=", "@import", "url(", "<b>shop", " style=", "onclick", "NaN"} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	for _, yes := range []string{"A plan for &lt;b&gt;shop&lt;/b&gt; &amp; more", "71 of 72", "lower bound", `class="block f0"`, `class="block f11"`, "more nodes are not drawn", "3 more are left out", `<input id="step" type="range" min="0" max="1"`} {
		if !strings.Contains(page, yes) {
			t.Errorf("the page has no %s", yes)
		}
	}
	if len(page) > 500<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// The policy allows exactly the style sheet and the script of the page.
func TestContentSecurityPolicy(t *testing.T) {
	page := written(t, example(1))
	match := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if match == nil {
		t.Fatal("the page has no policy")
	}
	policy := html.UnescapeString(match[1])
	for element, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
		inner := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1)
		if len(inner) != 1 {
			t.Fatalf("the page has %d elements %s", len(inner), element)
		}
		sum := sha256.Sum256([]byte(inner[0][1]))
		if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %q lacks %s", policy, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
}

// Without the script, all steps are readable, and the slider, which would do nothing, is hidden.
func TestReadableWithoutScript(t *testing.T) {
	page, _, _ := strings.Cut(written(t, example(1)), "<script>")
	for _, yes := range []string{"1. Delete node a", "2. Replace node c", `class="control" hidden`} {
		if !strings.Contains(page, yes) {
			t.Errorf("the page has no %s", yes)
		}
	}
	if strings.Contains(page, `class="step" hidden`) {
		t.Error("a step is hidden")
	}
}

// Equal nodes that follow each other are drawn once. Blocks never leave the node, whatever the shares.
func TestPacking(t *testing.T) {
	node := report.Node{Name: "a", Kind: "m5.large in a, spot", Price: "$1", Blocks: []report.Block{
		{Workload: "w", Pods: 1, Shares: []float64{0.75}}, {Workload: "x", Pods: 2, Shares: []float64{0.75}}, {Workload: "y", Pods: 1, Shares: []float64{math.NaN()}}, {Workload: "z", Pods: 1},
	}}
	other := node
	other.Name, other.Mark, other.Has = "b", "removed", []bool{true}
	page := written(t, &report.Page{Packings: []report.Packing{{Title: "Nodes", Resources: []string{"CPU"}, Nodes: []report.Node{node, node, other}}, {Title: "Without", Resources: []string{"CPU", "GPU"}, Nodes: []report.Node{{Kind: "m5.large", Has: []bool{true, false}}}}}})
	for _, yes := range []string{"2 × m5.large in a, spot", "b: m5.large in a, spot", `<span class="mark">removed</span>`, `x="0" y="0" width="750"`, `x="750" y="0" width="250"`, "5 pods request 100% of the CPU"} {
		if !strings.Contains(page, yes) {
			t.Errorf("the page has no %s", yes)
		}
	}
	if strings.Contains(page, "NaN") {
		t.Error("the page has NaN")
	}
	if _, without, _ := strings.Cut(page, "Without"); strings.Count(without, `class="lane"`) != 1 {
		t.Error("a node without a resource has a bar for it")
	}
}

// Lines are steps from 0 to the right end, areas lie on top of each other, events are in the order of time, and each chart has a table.
func TestCharts(t *testing.T) {
	page := written(t, &report.Page{Charts: example(0).Charts})
	for _, yes := range []string{
		`<path class="l0" d="M0 200H250V0H500V100H750V300H1000"/>`,              // 1, 3, 2 and no number, of 3
		`<path class="f0" d="M0 200H333.3V100H1000V300H0Z"/>`,                   // 1, 2, 2 of 3
		`<path class="f1" d="M0 100H333.3V0H666.7V100H1000V100H333.3V200H0Z"/>`, // 1, 1, 0 above it
		`<div class="ticks" aria-hidden="true"><span>$3</span><span>$2.5</span>`, "<span>day 7.5</span>",
		"<title>day 7.5: command, delete &lt;x&gt;</title>", "3 events", `<rect class="f1" x="1000"`, "interruption (below the chart)",
	} {
		if !strings.Contains(page, yes) {
			t.Errorf("the page has no %s", yes)
		}
	}
	if strings.Index(page, "delete &lt;x&gt;") > strings.Index(page, "day 15: interruption") {
		t.Error("events are not in the order of time")
	}
	none := written(t, &report.Page{Charts: []report.Chart{{Title: "Nothing", Value: money, Time: day}, {Title: "Nothing", Stacked: true, Series: []report.Series{{Name: "x"}}, Value: money, Time: day}}})
	if strings.Contains(none, "NaN") || strings.Contains(none, "Inf") {
		t.Error("charts without values are drawn with NaN or Inf")
	}
}

// A page without any part, and a writer that fails.
func TestEmptyAndFailing(t *testing.T) {
	if page := written(t, &report.Page{}); strings.Contains(page, "<section") {
		t.Error("an empty page has a section")
	}
	if err := example(1).Write(failing{}); !errors.Is(err, errFull) {
		t.Errorf("the error is %v", err)
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// WCAG 2.2 AA: text has a contrast of at least 4.5 to the background, drawings of at least 3, in light and dark mode.
func TestContrast(t *testing.T) {
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	roots := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(string(style), -1)
	if len(roots) != 2 {
		t.Fatalf("the style sheet has %d modes", len(roots))
	}
	for mode, root := range roots {
		colours := map[string]string{}
		for _, v := range regexp.MustCompile(`--([a-z0-9]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(root[1], -1) {
			colours[v[1]] = v[2]
		}
		if len(colours) != 18 {
			t.Errorf("mode %d has %d colours", mode, len(colours))
		}
		for name, colour := range colours {
			least := map[string]float64{"ink": 4.5, "dim": 4.5, "line": 1, "lane": 1, "back": 1}[name]
			if least == 0 {
				least = 3
			}
			if c := contrast(t, colour, colours["back"]); c < least {
				t.Errorf("mode %d: --%s has a contrast of %.2f, want %.1f", mode, name, c, least)
			}
			if name != "lane" && name != "line" && name != "back" {
				if c := contrast(t, colour, colours["lane"]); c < min(least, 3) {
					t.Errorf("mode %d: --%s on a lane has a contrast of %.2f, want 3", mode, name, c)
				}
			}
		}
	}
}

// contrast is the contrast ratio of WCAG 2.2.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(colour string) float64 {
		var sum float64
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// frames is a page that shows another in frames of several widths, and says how wide its content is in each, whether its script ran to
// the end, and which step is shown after the slider was moved.
const frames = `<!DOCTYPE html><body><script>
const results = [];
for (const width of [390, 768, 1280]) {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = 900; frame.src = "page.html";
  frame.onload = () => {
    const page = frame.contentDocument, root = page.documentElement, slider = page.getElementById("step");
    slider.value = "1"; slider.dispatchEvent(new Event("input"));
    const shown = [...page.querySelectorAll(".step")].filter(s => !s.hidden).map(s => s.querySelector("h3").textContent);
    const styled = getComputedStyle(page.querySelector(".block")).fill;
    results.push([width, root.scrollWidth - root.clientWidth, root.dataset.ready, shown.join(), styled !== "rgb(0, 0, 0)"].join("|"));
    if (results.length === 3) document.body.textContent = "RESULTS " + results.sort().join(" ; ") + " END";
  };
  document.body.append(frame);
}
</script></body>`

// In a browser, the page fits into a phone, a tablet and a window, its style and script are allowed, and its slider works.
func TestPageInBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium on this machine: the page is not drawn")
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"page.html": written(t, example(30)), "frames.html": frames} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--virtual-time-budget=20000",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+filepath.Join(folder, "frames.html"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	_, results, _ := strings.Cut(string(dom), "RESULTS ")
	results, _, found := strings.Cut(results, " END")
	if !found {
		t.Fatalf("the browser shows %s; %s", dom, &stderr)
	}
	const want = "1280|0|true|2. Replace node c|true ; 390|0|true|2. Replace node c|true ; 768|0|true|2. Replace node c|true"
	if results != want {
		t.Errorf("the browser says %s, want %s", results, want)
	}
}
