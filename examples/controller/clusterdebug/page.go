package clusterdebug

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strings"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
	"github.com/drawknife/drawknife/internal/printable"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

const (
	// refreshSeconds is the time after which a browser loads the page again.
	refreshSeconds = 5
	// maxPageNodes is the largest number of nodes on the page.
	maxPageNodes = 500
)

// policy forbids the page to load, run or send anything, except for its own style.
var policy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", sum(style))

func sum(text string) string {
	hash := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(hash[:])
}

// Page returns a handler that shows the report as a page, for browsers. The page needs no scripts and is read only.
func (r *Reporter) Page() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if !readOnly(w, request) {
			return
		}
		var out bytes.Buffer
		if err := pageTemplate.Execute(&out, newPage(r.Current())); err != nil {
			r.sources.Log.Error("cannot draw cluster page", "error", err)
			http.Error(w, "cannot draw the page", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		if _, err := w.Write(out.Bytes()); err != nil {
			r.sources.Log.Debug("cannot send cluster page", "error", err)
		}
	})
}

// page is what the template shows. Its texts contain no control characters.
type page struct {
	Style                                   template.CSS
	Refresh                                 int
	Time, Note, Cost                        string
	Leader                                  bool
	Facts                                   []fact
	Commands                                []commandRow
	Pending                                 []podRow
	Nodes                                   []nodeRow
	CommandsTotal, PendingTotal, NodesTotal int
	MorePending, MoreNodes                  int
}

type fact struct{ Name, Value string }

type commandRow struct{ State, Reason, Removes, Launches, Saves, Since string }

type podRow struct {
	Name, Waits, Place string
	Bad                bool
}

type nodeRow struct {
	Name, State, Class, Price, Kind string
	Bars                            []bar
}

type bar struct {
	Name           string
	Width, Percent int
}

func newPage(r *clusterreport.Report) page {
	t := &r.Totals
	p := page{
		Style: template.CSS(style), Refresh: refreshSeconds, Time: r.Time.UTC().Format("2006-01-02 15:04:05 UTC"), Note: printable.Text(r.Note),
		Cost: printable.Text(t.Cost()), Leader: r.Leader, CommandsTotal: t.Commands, PendingTotal: t.Pending, NodesTotal: t.Nodes,
		Facts: []fact{
			{"Cost", clusterreport.Money(t.HourlyCost) + "/h"},
			{"Saved in " + clusterreport.Age(r.Saved.Since, r.Time) + " by " + clusterreport.Count(r.Saved.Commands, "command"), clusterreport.Money(r.Saved.PerHour) + "/h"},
			{"Nodes", fmt.Sprint(t.Nodes)}, {"Pods", fmt.Sprint(t.Pods)}, {"Pending pods", fmt.Sprint(t.Pending)},
			{"CPU requested", percent(clusterreport.Share(t.Requested.CPU, t.Allocatable.CPU))},
			{"Memory requested", percent(clusterreport.Share(t.Requested.Memory, t.Allocatable.Memory))},
		},
	}
	for i := range r.Commands {
		c := &r.Commands[i]
		p.Commands = append(p.Commands, commandRow{
			printable.Text(c.State), printable.Text(c.Reason), printable.Text(c.Removes()), printable.Text(c.Launches()),
			clusterreport.Money(c.Saves), clusterreport.Age(c.Since, r.Time),
		})
	}
	for i := range r.Pending {
		pod := &r.Pending[i]
		p.Pending = append(p.Pending, podRow{
			printable.Text(pod.Namespace + "/" + pod.Name), clusterreport.Age(pod.Since, r.Time), printable.Text(pod.Place()), pod.Planned == "" && pod.Reason != "",
		})
	}
	nodes := r.ByUse()
	for i := range nodes[:min(len(nodes), maxPageNodes)] {
		p.Nodes = append(p.Nodes, rowOf(&nodes[i], r))
	}
	p.MorePending, p.MoreNodes = t.Pending-len(p.Pending), t.Nodes-len(p.Nodes)
	return p
}

func rowOf(n *clusterreport.Node, r *clusterreport.Report) nodeRow {
	row := nodeRow{Name: printable.Text(n.Name), State: printable.Text(n.Does()), Class: "dim", Price: "price not known"}
	switch {
	case n.State == clusterreport.StateNotReady:
		row.Class = "bad"
	case n.Changing():
		row.Class = "warn"
	}
	switch {
	case n.State == clusterreport.StateLaunching:
		row.Price = "not launched yet"
	case n.Price != nil:
		row.Price = clusterreport.Money(*n.Price) + "/h"
	}
	var facts []string
	for _, text := range []string{n.InstanceType, n.Zone, n.CapacityType} {
		if text != "" {
			facts = append(facts, printable.Text(text))
		}
	}
	if n.NodePool != "" {
		facts = append(facts, "NodePool "+printable.Text(n.NodePool))
	}
	row.Kind = strings.Join(append(facts, clusterreport.Count(n.Pods, "pod"), clusterreport.Age(n.Since, r.Time)+" old"), ", ")
	if n.Allocatable.CPU > 0 || n.Allocatable.Memory > 0 {
		row.Bars = []bar{barOf("CPU", n.CPU()), barOf("Memory", n.Memory())}
	}
	return row
}

func barOf(name string, share float64) bar {
	return bar{name, int(math.Round(1000 * share)), int(math.Round(100 * share))}
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }
