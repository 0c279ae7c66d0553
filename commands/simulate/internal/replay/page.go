package replay

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"time"
)

//go:embed page.html
var pageText string

// packedRows is the number of nodes that the page draws.
const packedRows = 200

// fact is a figure at the top of the page.
type fact struct{ Name, Value string }

// WritePage writes the result as one self-contained HTML page: figures, charts, and a drawing of the packing. The title describes the
// simulation.
func (r *Result) WritePage(w io.Writer, title string) error {
	page, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	charts := r.charts()
	fields := map[string][]string{}
	for _, c := range charts {
		fields[c.ID] = c.fields
	}
	data, err := json.Marshal(map[string]any{"series": r.Series, "charts": fields})
	if err != nil {
		return err
	}
	more := ""
	packing := r.Packing
	if len(packing) > packedRows {
		more = fmt.Sprintf("%d more nodes are left out.", len(packing)-packedRows)
		packing = packing[:packedRows]
	}
	return page.Execute(w, map[string]any{
		"Title": title, "Facts": r.facts(), "Charts": charts, "Packing": packedOf(packing), "PackedMore": more, "PackedAt": dayOf(r.PackedAt),
		"Assumptions": r.Assumptions, "Prices": r.Prices.Words(),
		"Sub":  fmt.Sprintf("%s from %s", days(r.Length), r.Start.UTC().Format("2006-01-02 15:04 MST")),
		"Data": template.JS(data), //nolint:gosec // json.Marshal escapes <, > and &
	})
}

func (r *Result) facts() []fact {
	hours := r.Length.Hours()
	out := []fact{{"cost", fmt.Sprintf("%s$%.2f", r.mark(), r.Cost)}}
	if r.Prices.OnDemandCost > 0 {
		out = append(out, fact{"cost with all nodes on demand", fmt.Sprintf("%s$%.2f", r.mark(), r.Prices.OnDemandCost)})
	}
	if r.Prices.High > 0 {
		out = append(out, fact{"cost at the lowest and highest prices", fmt.Sprintf("%s$%.2f to $%.2f", r.mark(), r.Prices.Low, r.Prices.High)})
	}
	return append(out, []fact{
		{"cost per hour, on average", fmt.Sprintf("%s$%.4f", r.mark(), r.Cost/hours)},
		{"pods", fmt.Sprint(r.Pods)},
		{"waited: median", r.Pending(0.5).String()},
		{"waited: 99%", r.Pending(0.99).String()},
		{"waited: longest", r.Pending(1).String()},
		{"launches", fmt.Sprint(r.Launches)},
		{"interruptions", fmt.Sprint(r.Interruptions)},
		{"evictions", fmt.Sprint(r.Evictions())},
		{"without a node at the end", fmt.Sprint(r.Unplaced)},
	}...)
}

// days writes a length as "30 days" or "6h0m0s".
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

// packedNode is a row of the drawing.
type packedNode struct {
	InstanceType, Zone, CapacityType, Price, Label string
	Count                                          int
	Blocks                                         []block
}

// block is a pod's share of the width, 500, of one of the two bars.
type block struct {
	Name   string
	X, W   float64
	Y, Hue int
}

func packedOf(nodes []PackedNode) []packedNode {
	var out []packedNode
	for _, n := range nodes {
		m := packedNode{InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType, Price: fmt.Sprintf("%.4f", n.Price), Count: len(n.Pods)}
		var cpu, memory float64
		if n.PriceEstimated {
			m.Price = "~" + m.Price
		}
		for _, p := range n.Pods {
			h := fnv.New32a()
			_, _ = h.Write([]byte(p.Name)) // a hash accepts every input
			hue := int(h.Sum32() % 360)
			m.Blocks = append(m.Blocks,
				block{p.Name, round(500 * cpu), round(500 * p.CPU), 0, hue}, block{p.Name, round(500 * memory), round(500 * p.Memory), 18, hue})
			cpu, memory = cpu+p.CPU, memory+p.Memory
		}
		m.Label = fmt.Sprintf("%d pods use %.0f%% of the CPU and %.0f%% of the memory", len(n.Pods), 100*cpu, 100*memory)
		out = append(out, m)
	}
	return out
}
