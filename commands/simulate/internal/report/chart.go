package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	// plotHeight is the height of a chart in units of its view box.
	plotHeight = 300
	// timeMarks is the number of times below a chart. chartRows is the maximum number of rows of its table. mostEvents is the maximum
	// number of marked events.
	timeMarks  = 5
	chartRows  = 20
	mostEvents = 400
)

// drawnChart is a chart with the positions and texts of its drawing.
type drawnChart struct {
	Chart
	Height int
	// Ticks are the values on the axis, from the top. Grid has the vertical positions of their lines.
	Ticks, Grid []string
	Times       []string
	Paths       []drawnPath
	Strip       []drawnEvent
	Legend      []legendEntry
	// Text describes the chart for screen readers.
	Text       string
	Table      Table
	EventTable *Table
}

// drawnPath is a line of class "l", or an area of class "f".
type drawnPath struct {
	Class  string
	Colour int
	Path   string
}

type drawnEvent struct {
	X      string
	Colour int
	Title  string
}

func drawChart(c Chart) drawnChart {
	out := drawnChart{Chart: c, Height: plotHeight}
	periods, most := 0, finite(c.Most)
	for _, s := range c.Series {
		periods = max(periods, len(s.Values))
	}
	tops := make([]float64, periods)
	for i := range tops {
		for _, s := range c.Series {
			if c.Stacked {
				tops[i] += valueAt(s, i)
			} else {
				tops[i] = max(tops[i], valueAt(s, i))
			}
		}
		most = max(most, tops[i])
	}
	step := niceStep(most)
	count := max(1, int(math.Ceil(most/step-1e-9)))
	top := float64(count) * step
	for k := count; k >= 0; k-- {
		out.Ticks = append(out.Ticks, c.Value(float64(k)*step))
		out.Grid = append(out.Grid, units(plotHeight-plotHeight*float64(k)/float64(count)))
	}
	for k := range timeMarks {
		out.Times = append(out.Times, c.Time(float64(k)/(timeMarks-1)))
	}
	below := make([]float64, periods)
	for i, s := range c.Series {
		colour := min(i, mostColours)
		out.Legend = append(out.Legend, legendEntry{colour, s.Name})
		if c.Stacked {
			out.Paths = append(out.Paths, drawnPath{"f", colour, areaPath(s, below, top)})
			for k := range below {
				below[k] += valueAt(s, k)
			}
		} else {
			out.Paths = append(out.Paths, drawnPath{"l", colour, linePath(s, periods, top)})
		}
	}
	out.addTable(periods)
	out.addEvents()
	out.Text = fmt.Sprintf("%s, from 0 to %s", c.Title, c.Value(most))
	return out
}

// addTable adds a table of the averages over at most chartRows periods.
func (d *drawnChart) addTable(periods int) {
	d.Table = Table{Title: d.Title, Columns: []Column{{"From", false}}}
	for _, s := range d.Series {
		d.Table.Columns = append(d.Table.Columns, Column{s.Name, true})
	}
	rows := min(chartRows, periods)
	for r := range rows {
		from, to := r*periods/rows, (r+1)*periods/rows
		row := []string{d.Time(float64(from) / float64(periods))}
		for _, s := range d.Series {
			sum := 0.0
			for i := from; i < to; i++ {
				sum += valueAt(s, i)
			}
			row = append(row, d.Value(sum/float64(to-from)))
		}
		d.Table.Rows = append(d.Table.Rows, row)
	}
}

// addEvents draws marks for the first events, and lists these events in a table.
func (d *drawnChart) addEvents() {
	if len(d.Events) == 0 {
		return
	}
	kinds := map[string]int{}
	for _, e := range d.Events {
		if _, known := kinds[e.Kind]; !known {
			kinds[e.Kind] = 0
		}
	}
	names := make([]string, 0, len(kinds))
	for kind := range kinds {
		names = append(names, kind)
	}
	slices.Sort(names)
	for i, kind := range names {
		kinds[kind] = min(len(d.Series)+i, mostColours)
		d.Legend = append(d.Legend, legendEntry{kinds[kind], kind + " (below the chart)"})
	}
	events := slices.Clone(d.Events)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	table := &Table{Title: counted(len(events), "event"), Columns: []Column{{"When", false}, {"What", false}, {"Which", false}}}
	if len(events) > mostEvents {
		table.More, events = len(events)-mostEvents, events[:mostEvents]
	}
	for _, e := range events {
		when := d.Time(e.At)
		d.Strip = append(d.Strip, drawnEvent{units(barWidth * min(max(finite(e.At), 0), 1)), kinds[e.Kind], when + ": " + e.Kind + ", " + e.Text})
		table.Rows = append(table.Rows, []string{when, e.Kind, e.Text})
	}
	d.EventTable = table
}

// linePath draws the values as steps. If a value equals the value before, no point is added.
func linePath(s Series, periods int, top float64) string {
	var b strings.Builder
	last := math.NaN()
	for i := range periods {
		x, y := barWidth*float64(i)/float64(periods), plotHeight-plotHeight*valueAt(s, i)/top
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M0 %s", units(y))
		case y != last:
			fmt.Fprintf(&b, "H%sV%s", units(x), units(y))
		}
		last = y
	}
	if periods > 0 {
		fmt.Fprintf(&b, "H%d", barWidth)
	}
	return b.String()
}

// areaPath draws the area of a series. The area's lower edge is at the heights in the slice below, and its upper edge is higher by the
// values of the series.
func areaPath(s Series, below []float64, top float64) string {
	var b strings.Builder
	height := func(value float64) string { return units(plotHeight - plotHeight*value/top) }
	at := func(i int) string { return units(barWidth * float64(i) / float64(len(below))) }
	for i := range below {
		if i == 0 {
			fmt.Fprintf(&b, "M0 %s", height(below[0]+valueAt(s, 0)))
		} else if a, c := height(below[i]+valueAt(s, i)), height(below[i-1]+valueAt(s, i-1)); a != c {
			b.WriteString("H" + at(i) + "V" + a)
		}
	}
	for i := len(below) - 1; i >= 0; i-- {
		if i == len(below)-1 {
			b.WriteString("H" + strconv.Itoa(barWidth) + "V" + height(below[i]))
		} else if a := height(below[i]); a != height(below[i+1]) {
			b.WriteString("H" + at(i+1) + "V" + a)
		}
		if i == 0 {
			b.WriteString("H0Z")
		}
	}
	return b.String()
}

func valueAt(s Series, i int) float64 {
	if i >= len(s.Values) {
		return 0
	}
	return max(finite(s.Values[i]), 0)
}

// niceStep returns the distance between two values of an axis: 1, 2 or 5 times a power of ten, so that at most six steps reach the value.
func niceStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, k := range []float64{1, 2, 5} {
		if most/(k*power) <= 6 {
			return k * power
		}
	}
	return 10 * power
}
