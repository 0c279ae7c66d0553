package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Sizes of drawings, in units of their view boxes. Bars are stretched to the width of the page.
const (
	barWidth    = 1000
	laneHeight  = 14
	laneGap     = 3
	mostColours = 11
	// mostText is the maximum length of all drawings and their tables, in bytes. It keeps a page below 500 kB.
	mostText = 320 << 10
)

// drawnBar is a bar of a comparison with its length.
type drawnBar struct {
	Bar
	Width string
}

// drawnComparison is a comparison with the lengths of its bars. The longest bar has the full width.
type drawnComparison struct {
	Comparison
	Bars []drawnBar
}

func drawComparison(c Comparison) drawnComparison {
	return drawnComparison{Comparison: c, Bars: drawBars(c.Bars, 0)}
}

// drawBars computes the widths of bars. A bar with the value most, or with the largest value of bars if that is larger, has the full width.
func drawBars(bars []Bar, most float64) []drawnBar {
	for _, b := range bars {
		most = max(most, b.Value)
	}
	out := make([]drawnBar, len(bars))
	for i, b := range bars {
		out[i] = drawnBar{b, "0"}
		if most > 0 {
			out[i].Width = units(barWidth * max(b.Value, 0) / most)
		}
	}
	return out
}

// colours assigns classes of the style sheet to workloads. Each of the largest workloads gets a class of its own, and all other workloads
// share the last class.
type colours map[string]int

// coloursOf adds up a workload's requests on all nodes of all packings, so that a workload has the same colour in all packings.
func coloursOf(packings []Packing) colours {
	sums := map[string]float64{}
	for _, p := range packings {
		for _, n := range p.Nodes {
			for _, b := range n.Blocks {
				for _, share := range b.Shares {
					sums[b.Workload] += finite(share)
				}
			}
		}
	}
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sums[b], sums[a]), strings.Compare(a, b)) })
	out := make(colours, len(names))
	for i, name := range names {
		out[name] = min(i, mostColours)
	}
	return out
}

// legendEntry is a workload in the legend of a packing.
type legendEntry struct {
	Colour int
	Name   string
}

// drawnNode is one node, or several equal nodes that are drawn as one node.
type drawnNode struct {
	Node
	Count  int
	Height int
	Lanes  []drawnLane
	// Text describes the drawing for screen readers.
	Text string
}

// drawnLane is the bar of one resource.
type drawnLane struct {
	Y      int
	Blocks []drawnBlock
}

type drawnBlock struct {
	X, Width string
	Colour   int
	Title    string
}

// drawnPacking is a packing with the positions and texts of its drawing.
type drawnPacking struct {
	Packing
	Nodes  []drawnNode
	Legend []legendEntry
	// More is the number of nodes that are not drawn.
	More int
	// Table contains the drawn nodes as text.
	Table Table
}

// drawPacking draws nodes until the drawing and its table would exceed the maximum length most, in bytes.
func drawPacking(p Packing, palette colours, most int) drawnPacking {
	out := drawnPacking{Packing: p}
	out.Table = Table{Title: p.Title, Columns: []Column{{"Node", false}, {"Price", true}, {"Workload", false}, {"Pods", true}}}
	for _, r := range p.Resources {
		out.Table.Columns = append(out.Table.Columns, Column{r, true})
	}
	shown := map[string]bool{}
	for i := 0; i < len(p.Nodes); {
		count := 1
		for i+count < len(p.Nodes) && alike(p.Nodes[i], p.Nodes[i+count]) {
			count++
		}
		node := p.Nodes[i]
		if most -= lengthOf(node, len(p.Resources)); most < 0 {
			out.More += count
		} else {
			out.Nodes = append(out.Nodes, drawNode(node, count, p.Resources, palette))
			out.list(node, count)
			for _, b := range node.Blocks {
				shown[b.Workload] = true
			}
		}
		i += count
	}
	out.Legend = legendOf(shown, palette)
	return out
}

// list adds the rows of a node to the table.
func (d *drawnPacking) list(node Node, count int) {
	name := node.Kind
	if count > 1 {
		name = fmt.Sprintf("%d × %s", count, node.Kind)
	} else if node.Name != "" {
		name = node.Name + ": " + node.Kind
	}
	for i, b := range node.Blocks {
		row := []string{name, node.Price, b.Workload, strconv.Itoa(b.Pods)}
		if i > 0 {
			row[0], row[1] = "", ""
		}
		for r := range d.Resources {
			row = append(row, percent(shareOf(b, r)))
		}
		d.Table.Rows = append(d.Table.Rows, row)
	}
	if len(node.Blocks) == 0 {
		d.Table.Rows = append(d.Table.Rows, append([]string{name, node.Price, "no pods", "0"}, make([]string, len(d.Resources))...))
	}
}

// lengthOf estimates the length of a node's drawing and of its rows in the table.
func lengthOf(node Node, resources int) int {
	const ofNode, ofBlock, ofRow = 400, 130, 90
	length := ofNode + 2*len(node.Name+node.Kind)
	for _, b := range node.Blocks {
		length += resources*(ofBlock+len(b.Workload)) + ofRow + len(b.Workload)
	}
	return length
}

// alike reports whether the nodes are equal, so that they are drawn as one node.
func alike(a, b Node) bool {
	sameShare := func(x, y float64) bool { return finite(x) == finite(y) }
	return a.Kind == b.Kind && a.Price == b.Price && a.Mark == b.Mark && slices.Equal(a.Has, b.Has) && slices.EqualFunc(a.Blocks, b.Blocks, func(x, y Block) bool {
		return x.Workload == y.Workload && x.Pods == y.Pods && slices.EqualFunc(x.Shares, y.Shares, sameShare)
	})
}

func drawNode(node Node, count int, resources []string, palette colours) drawnNode {
	out := drawnNode{Node: node, Count: count}
	var uses []string
	for r, name := range resources {
		if node.Has != nil && (r >= len(node.Has) || !node.Has[r]) {
			continue
		}
		lane := drawnLane{Y: len(out.Lanes) * (laneHeight + laneGap)}
		at := 0.0
		for _, b := range node.Blocks {
			share := min(shareOf(b, r), 1-at)
			if share <= 0 {
				continue
			}
			lane.Blocks = append(lane.Blocks, drawnBlock{
				X: units(barWidth * at), Width: units(barWidth * share), Colour: palette[b.Workload],
				Title: fmt.Sprintf("%s: %s, %s of the %s", b.Workload, counted(b.Pods, "pod"), percent(shareOf(b, r)), name),
			})
			at += share
		}
		out.Lanes = append(out.Lanes, lane)
		uses = append(uses, percent(at)+" of the "+name)
	}
	pods := 0
	for _, b := range node.Blocks {
		pods += b.Pods
	}
	out.Height = max(0, len(out.Lanes)*(laneHeight+laneGap)-laneGap)
	out.Text = fmt.Sprintf("%s request %s", counted(pods, "pod"), strings.Join(uses, ", "))
	return out
}

// legendOf lists the workloads that are drawn, in the order of their colours.
func legendOf(shown map[string]bool, palette colours) []legendEntry {
	var out []legendEntry
	others := 0
	for name := range shown {
		if palette[name] == mostColours {
			others++
			continue
		}
		out = append(out, legendEntry{palette[name], name})
	}
	slices.SortFunc(out, func(a, b legendEntry) int { return cmp.Compare(a.Colour, b.Colour) })
	if others > 0 {
		out = append(out, legendEntry{mostColours, counted(others, "other workload")})
	}
	return out
}

func shareOf(b Block, resource int) float64 {
	if resource >= len(b.Shares) {
		return 0
	}
	return max(finite(b.Shares[resource]), 0)
}

// finite returns the number, or 0 if it is infinite or not a number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// units writes a length with at most one decimal.
func units(x float64) string { return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) }

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
