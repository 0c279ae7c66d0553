package clusterdebug

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
)

var update = flag.Bool("update", false, "write the golden page")

// showing is a reporter that has the report.
func showing(report *clusterreport.Report) *Reporter {
	r := New(Sources{Leader: func() bool { return report.Leader }, Now: func() time.Time { return report.Time }, Log: slog.New(slog.DiscardHandler)})
	r.last = report
	return r
}

func shown(t *testing.T, report *clusterreport.Report) (string, *httptest.ResponseRecorder) {
	t.Helper()
	answer := httptest.NewRecorder()
	showing(report).Page().ServeHTTP(answer, httptest.NewRequest("GET", "/debug/top", nil))
	if answer.Code != 200 {
		t.Fatalf("%d: %s", answer.Code, answer.Body)
	}
	text := answer.Body.String()
	decoder := xml.NewDecoder(strings.NewReader(text)) // it reports tags that are not closed
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return text, answer
}

func sample() *clusterreport.Report {
	noon, price := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC), 0.0816
	return &clusterreport.Report{
		Time: noon, Leader: true,
		Totals: clusterreport.Totals{
			HourlyCost: 0.0816, ByCapacityType: map[string]float64{"spot": 0.0816}, Nodes: 3, Pods: 9, Pending: 102, Commands: 1,
			Allocatable: clusterreport.Amounts{CPU: 4, Memory: 16e9}, Requested: clusterreport.Amounts{CPU: 1, Memory: 8e9},
		},
		Saved:    clusterreport.Saved{PerHour: 0.2, Commands: 1, Since: noon.Add(-3 * time.Hour)},
		Commands: []clusterreport.Command{{ID: "c", Reason: "Drifted", State: "Waiting", Nodes: []string{"node-1"}, Saves: -0.01, Since: noon.Add(-time.Minute)}},
		Pending: []clusterreport.Pod{
			{Namespace: "shop", Name: "web-0", Since: noon.Add(-9 * time.Second), Planned: "node node-1"}, {Namespace: "shop", Name: "train", Reason: "no instance type has 9 GPUs"},
		},
		Nodes: []clusterreport.Node{
			{
				Name: "node-1", NodePool: "default", InstanceType: "m7g.xlarge", Zone: "us-east-1a", CapacityType: "spot", State: clusterreport.StateLeaving, Reason: "Drifted",
				Since: noon.Add(-72 * time.Hour), Price: &price, Pods: 9, Allocatable: clusterreport.Amounts{CPU: 4, Memory: 16e9}, Requested: clusterreport.Amounts{CPU: 1, Memory: 8e9},
			},
			{Name: "default-x", NodePool: "default", State: clusterreport.StateLaunching, Since: noon},
			{Name: "own", State: clusterreport.StateNotReady, Since: noon},
		},
	}
}

func TestPage(t *testing.T) {
	const file = "testdata/page.html"
	got, answer := shown(t, sample())
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	h := answer.Header()
	styles := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(got)
	if len(styles) != 2 || !strings.Contains(h.Get("Content-Security-Policy"), "style-src 'sha256-"+sum(styles[1])+"'") {
		t.Errorf("the style on the page is not that of the policy %s", h.Get("Content-Security-Policy"))
	}
	for _, never := range []string{"<script", " style=", "http://", "https://", "<form", "<a "} {
		if strings.Contains(got, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Content-Type") != "text/html; charset=utf-8" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
	refused := httptest.NewRecorder()
	if showing(sample()).Page().ServeHTTP(refused, httptest.NewRequest("POST", "/debug/top", nil)); refused.Code != 405 || refused.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST is answered %d", refused.Code)
	}
}

// A process that does not lead shows only that.
func TestPageOfStandby(t *testing.T) {
	got, _ := shown(t, &clusterreport.Report{Note: "this process is not the leader"})
	if !strings.Contains(got, "not the leader") || strings.Contains(got, "Nodes") {
		t.Errorf("%s", got)
	}
}

// Names can't change the page.
func TestPageOfHostileNames(t *testing.T) {
	const bad = "</p></style><script>alert(1)</script>\"' onload=x \x1b[2J\u202e&amp;"
	report := sample()
	report.Note = bad
	report.Totals.ByCapacityType = map[string]float64{bad: 1}
	report.Commands = []clusterreport.Command{{ID: bad, Reason: bad, State: bad, Nodes: []string{bad}, Replacements: []clusterreport.Replacement{{NodePool: bad}}}}
	report.Pending = []clusterreport.Pod{{Namespace: bad, Name: bad, Planned: bad}, {Reason: bad}}
	report.Nodes = []clusterreport.Node{{Name: bad, NodePool: bad, InstanceType: bad, Zone: bad, CapacityType: bad, State: bad, Reason: bad}}
	got, _ := shown(t, report)
	for _, never := range []string{"<script", "\x1b", "\u202e"} {
		if strings.Contains(got, never) {
			t.Errorf("the page has %q", never)
		}
	}
	if strings.Count(got, "</style>") != 1 {
		t.Error("a name ends the style")
	}
}

// A large cluster has a page that a browser can show.
func TestPageIsBounded(t *testing.T) {
	report := &clusterreport.Report{Leader: true}
	for i := range clusterreport.MaxNodes {
		report.Nodes = append(report.Nodes, clusterreport.Node{Name: fmt.Sprint("node-", i), State: clusterreport.StateReady, Allocatable: clusterreport.Amounts{CPU: 1}})
	}
	report.Totals.Nodes = 7000
	got, _ := shown(t, report)
	if strings.Count(got, "<li>") != maxPageNodes || !strings.Contains(got, "6500 more are left out") || len(got) > 1<<20 {
		t.Errorf("%d nodes, %d bytes", strings.Count(got, "<li>"), len(got))
	}
}
