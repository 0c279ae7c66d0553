package replay

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/drawknife/drawknife/commands/simulate/internal/report"
)

// WritePage writes the result as one self-contained HTML page with numbers, charts, and a drawing of the nodes and their pods. The title
// describes the simulation.
func (r *Result) WritePage(w io.Writer, title string) error {
	page := &report.Page{
		Title: title, Subtitle: fmt.Sprintf("%s from %s", days(r.Length), r.Start.UTC().Format("2006-01-02 15:04 MST")),
		Facts: r.facts(), Charts: r.charts(),
	}
	for _, line := range r.Assumptions {
		page.Remarks = append(page.Remarks, "Assumed: "+line)
	}
	page.Remarks = append(page.Remarks, r.Prices.Words()...)
	if len(r.Packing) > 0 {
		page.Packings = []report.Packing{r.packing()}
	}
	return page.Write(w)
}

func (r *Result) facts() []report.Fact {
	hours := r.Length.Hours()
	out := []report.Fact{{Name: "cost", Value: fmt.Sprintf("%s$%.2f", r.mark(), r.Cost)}}
	if r.Prices.OnDemandCost > 0 {
		out = append(out, report.Fact{Name: "cost with all nodes on demand", Value: fmt.Sprintf("%s$%.2f", r.mark(), r.Prices.OnDemandCost)})
	}
	if r.Prices.High > 0 {
		out = append(out, report.Fact{Name: "cost at the lowest and highest prices", Value: fmt.Sprintf("%s$%.2f to $%.2f", r.mark(), r.Prices.Low, r.Prices.High)})
	}
	return append(out, []report.Fact{
		{Name: "cost per hour, on average", Value: fmt.Sprintf("%s$%.4f", r.mark(), r.Cost/hours)},
		{Name: "pods", Value: fmt.Sprint(r.Pods)},
		{Name: "waited: median", Value: r.Pending(0.5).String()},
		{Name: "waited: 99%", Value: r.Pending(0.99).String()},
		{Name: "waited: longest", Value: r.Pending(1).String()},
		{Name: "launches", Value: fmt.Sprint(r.Launches)},
		{Name: "interruptions", Value: fmt.Sprint(r.Interruptions)},
		{Name: "evictions", Value: fmt.Sprint(r.Evictions())},
		{Name: "without a node at the end", Value: fmt.Sprint(r.Unplaced)},
	}...)
}

// charts returns the charts of the page.
func (r *Result) charts() []report.Chart {
	values := func(of func(*Point) float64) []float64 {
		out := make([]float64, len(r.Series))
		for i := range r.Series {
			out[i] = of(&r.Series[i])
		}
		return out
	}
	mixed := func(mixes []Mix) []report.Series {
		var out []report.Series
		for _, m := range mixes {
			out = append(out, report.Series{Name: m.Name, Values: m.Nodes})
		}
		return out
	}
	dollars := func(x float64) string { return fmt.Sprintf("%s$%.4g", r.mark(), x) }
	plain := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	share := func(x float64) string { return fmt.Sprintf("%.0f%%", 100*x) }
	charts := []report.Chart{
		{Title: "Cost, USD per hour", Value: dollars, Series: []report.Series{{Name: "all nodes", Values: values(func(p *Point) float64 { return p.CostPerHour })}}, Events: r.drawnEvents()},
		{Title: "Nodes by capacity type", Value: plain, Stacked: true, Series: mixed(r.CapacityTypes)},
		{Title: "Nodes by instance family", Value: plain, Stacked: true, Series: mixed(r.Families)},
		{Title: "Utilization: what pods request, of what nodes have", Value: share, Most: 1, Series: []report.Series{
			{Name: "CPU", Values: values(func(p *Point) float64 { return p.CPU })}, {Name: "memory", Values: values(func(p *Point) float64 { return p.Memory })},
		}},
		{Title: "Pods without a node", Value: plain, Series: []report.Series{{Name: "pending", Values: values(func(p *Point) float64 { return p.Pending })}}},
	}
	for i := range charts {
		charts[i].Time = func(at float64) string { return timeText(time.Duration(at*float64(r.Length)), r.Length) }
	}
	return charts
}

func (r *Result) drawnEvents() []report.Event {
	out := make([]report.Event, len(r.Events))
	for i, e := range r.Events {
		out[i] = report.Event{At: float64(e.At) / float64(r.Length), Kind: e.Kind, Text: e.Text}
	}
	return out
}

// timeText writes a time of a run: "day 2.5", or "hour 3.2" if the run is shorter than two days.
func timeText(at, length time.Duration) string {
	if length < 48*time.Hour {
		return fmt.Sprintf("hour %.1f", at.Hours())
	}
	return fmt.Sprintf("day %.1f", at.Hours()/24)
}

// days writes a duration as "30 days" or "6h0m0s".
func days(d time.Duration) string {
	if n := d / (24 * time.Hour); n > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%d days", n)
	}
	return d.String()
}

// dayOf writes a time as "on day 3, 04:05".
func dayOf(d time.Duration) string {
	day := d / (24 * time.Hour)
	return fmt.Sprintf("on day %d, %02d:%02d", day, d/time.Hour%24, d/time.Minute%60)
}

// packing draws the nodes at the time with the most nodes and no pending pod. Pods whose names differ only in a number at the end are drawn
// as one workload.
func (r *Result) packing() report.Packing {
	out := report.Packing{Title: fmt.Sprintf("The nodes %s, when there were most", dayOf(r.PackedAt)), Resources: []string{"CPU", "memory"}}
	for _, n := range r.Packing {
		node := report.Node{Name: n.Name, Kind: fmt.Sprintf("%s in %s, %s", n.InstanceType, n.Zone, n.CapacityType), Price: fmt.Sprintf("$%.4f/h", n.Price)}
		if n.PriceEstimated {
			node.Price = "~" + node.Price
		}
		at := map[string]int{}
		for _, p := range n.Pods {
			name := strings.TrimRight(strings.TrimRight(p.Name, "0123456789"), "-")
			if name == "" {
				name = p.Name
			}
			i, known := at[name]
			if !known {
				i = len(node.Blocks)
				at[name] = i
				node.Blocks = append(node.Blocks, report.Block{Workload: name, Shares: make([]float64, 2)})
			}
			b := &node.Blocks[i]
			b.Pods, b.Shares[0], b.Shares[1] = b.Pods+1, b.Shares[0]+p.CPU, b.Shares[1]+p.Memory
		}
		out.Nodes = append(out.Nodes, node)
	}
	return out
}
