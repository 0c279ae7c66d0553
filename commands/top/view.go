package top

import (
	"fmt"
	"math"
	"strings"

	"github.com/drawknife/drawknife/commands/top/clusterreport"
)

// view says how a report is drawn.
type view struct {
	// width is the largest length of a line, and height the largest number of lines; 0 means that there is no limit.
	width, height int
	// colors allows colours, and signs allows characters beyond ASCII.
	colors, signs bool
	// problem is the reason why the report is old; empty if it is new.
	problem string
}

// barLength is the number of characters of a bar.
const barLength = 10

// text draws the report.
func (v view) text(r *clusterreport.Report) string {
	var b strings.Builder
	for _, line := range v.lines(r) {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// lines are the lines of the view, with colours.
func (v view) lines(r *clusterreport.Report) []string {
	out := []string{
		v.plain(bold, "drawknife top  "+r.Time.UTC().Format("2006-01-02 15:04:05 UTC")),
		v.plain(bold, r.Totals.Cost()),
		v.plain("", r.Totals.Size()),
		v.plain("", r.Saved.Sentence(r.Time)),
	}
	for _, remark := range []string{r.Note, v.problem} {
		if remark != "" {
			out = append(out, v.plain(yellow, remark))
		}
	}
	commands, pending, nodes := v.commands(r), v.pending(r), v.nodes(r)
	room := math.MaxInt
	if v.height > 0 {
		room = max(0, v.height-len(out))
	}
	// Commands and pods get at most a quarter of the lines each. Nodes get what is left.
	for _, t := range []*table{commands, pending} {
		if len(t.rows) == 0 {
			continue
		}
		part := v.section(t, min(room, max(v.height/4, 4)), v.height > 0)
		out, room = append(out, part...), room-len(part)
	}
	return append(out, v.section(nodes, room, v.height > 0)...)
}

// section draws a table with its title, in at most the given number of lines if they are limited.
func (v view) section(t *table, most int, limited bool) []string {
	const around = 3 // an empty line, the title, the head
	rows := t.rows
	if limited {
		if most <= around {
			return nil
		}
		if len(rows) > most-around {
			rows = rows[:most-around-1]
		}
	}
	out := append([]string{"", v.plain(bold, t.title)}, v.draw(t.columns, rows)...)
	if more := t.total - len(rows); more > 0 {
		out = append(out, v.plain(dim, fmt.Sprintf("  and %d more", more)))
	}
	return out
}

func (v view) commands(r *clusterreport.Report) *table {
	t := &table{title: "Commands under way: " + fmt.Sprint(r.Totals.Commands), total: r.Totals.Commands, columns: []column{
		{title: "STATE"}, {title: "REASON"}, {title: "REMOVES"}, {title: "LAUNCHES", drop: 2}, {title: "SAVES/H", right: true}, {title: "SINCE", right: true, drop: 1},
	}}
	for i := range r.Commands {
		c := &r.Commands[i]
		t.add(cell{text: c.State, paint: yellow}, cell{text: c.Reason}, cell{text: c.Removes()}, cell{text: c.Launches()},
			cell{text: clusterreport.Money(c.Saves)}, cell{text: clusterreport.Age(c.Since, r.Time)})
	}
	return t
}

func (v view) pending(r *clusterreport.Report) *table {
	t := &table{title: "Pending pods: " + fmt.Sprint(r.Totals.Pending), total: r.Totals.Pending, columns: []column{
		{title: "POD"}, {title: "WAITS", right: true, drop: 1}, {title: "PLAN"},
	}}
	for i := range r.Pending {
		p := &r.Pending[i]
		where := cell{text: p.Place()}
		if p.Planned == "" && p.Reason != "" {
			where.paint = red
		}
		t.add(cell{text: p.Namespace + "/" + p.Name}, cell{text: clusterreport.Age(p.Since, r.Time)}, where)
	}
	return t
}

func (v view) nodes(r *clusterreport.Report) *table {
	t := &table{title: "Nodes: " + fmt.Sprint(r.Totals.Nodes), total: r.Totals.Nodes, columns: []column{
		{title: "NODE"}, {title: "NODEPOOL", drop: 4}, {title: "TYPE", drop: 5}, {title: "ZONE", drop: 1}, {title: "CAPACITY", drop: 3}, {title: "STATE", drop: 9},
		{title: "AGE", right: true, drop: 2}, {title: "$/H", right: true, drop: 6}, {title: "PODS", right: true, drop: 7}, {title: "CPU"}, {title: "MEMORY", drop: 8},
	}}
	nodes := r.ByUse()
	for i := range nodes {
		n := &nodes[i]
		price := "-"
		if n.Price != nil {
			price = fmt.Sprintf("%.4f", *n.Price)
		}
		t.add(cell{text: n.Name}, cell{text: n.NodePool}, cell{text: n.InstanceType}, cell{text: n.Zone}, cell{text: n.CapacityType},
			cell{text: n.Does(), paint: paintOf(n)}, cell{text: clusterreport.Age(n.Since, r.Time)}, cell{text: price}, cell{text: fmt.Sprint(n.Pods)},
			v.bar(n.CPU(), n.Allocatable.CPU), v.bar(n.Memory(), n.Allocatable.Memory))
	}
	return t
}

func paintOf(n *clusterreport.Node) paint {
	switch {
	case n.State == clusterreport.StateNotReady:
		return red
	case n.Changing():
		return yellow
	}
	return green
}

// bar draws the share of an amount, from 0 to 1. It draws nothing if the amount is not known yet.
func (v view) bar(share, of float64) cell {
	if of == 0 {
		return cell{}
	}
	full, empty := "#", "."
	if v.signs {
		full, empty = "█", "░"
	}
	n := int(math.Round(share * barLength))
	return cell{text: fmt.Sprintf("%s%s %3.0f%%", strings.Repeat(full, n), strings.Repeat(empty, barLength-n), 100*share), paint: green}
}
