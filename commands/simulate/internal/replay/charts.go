package replay

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// The charts are 900 wide and 200 high; their area is between these.
const (
	chartLeft, chartRight = 56.0, 890.0
	chartTop, chartBottom = 10.0, 175.0
)

// chart is a drawing of the series.
type chart struct {
	ID, Title string
	Ticks     []tick
	Days      []tick
	Lines     []line
	fields    []string
}

// tick is a mark at an axis.
type tick struct {
	X, Y float64
	Text string
}

// line is one line of a chart.
type line struct{ Name, Class, Path string }

// charts returns the charts of the page.
func (r *Result) charts() []chart {
	type drawn struct {
		name, field string
		value       func(*Point) float64
	}
	var out []chart
	for _, c := range []struct {
		id, title string
		most      float64 // 0 means the available width
		format    string
		lines     []drawn
	}{
		{"cost", "Cost, USD per hour", 0, "$%g", []drawn{{"all nodes", "costPerHour", func(p *Point) float64 { return p.CostPerHour }}}},
		{"nodes", "Nodes", 0, "%g", []drawn{{"ready", "nodes", func(p *Point) float64 { return p.Nodes }}}},
		{"utilisation", "Utilisation: what pods ask for, of what nodes have", 1, "%g", []drawn{
			{"CPU", "cpu", func(p *Point) float64 { return p.CPU }}, {"memory", "memory", func(p *Point) float64 { return p.Memory }},
		}},
		{"pending", "Pods without a node", 0, "%g", []drawn{{"pending", "pending", func(p *Point) float64 { return p.Pending }}}},
	} {
		most := c.most
		for i := range r.Series {
			for _, l := range c.lines {
				most = max(most, l.value(&r.Series[i]))
			}
		}
		step := niceStep(most)
		top := max(step, math.Ceil(most/step-1e-9)*step)
		drawing := chart{ID: c.id, Title: c.title, Days: r.dayMarks()}
		for k := 0.0; k*step <= top*(1+1e-9); k++ {
			drawing.Ticks = append(drawing.Ticks, tick{Y: height(k*step, top), Text: fmt.Sprintf(c.format, round(k*step))})
		}
		for i, l := range c.lines {
			drawing.fields = append(drawing.fields, l.field)
			drawing.Lines = append(drawing.Lines, line{Name: l.name, Class: []string{"one", "two"}[i], Path: r.path(l.value, top)})
		}
		out = append(out, drawing)
	}
	return out
}

// path draws the values of the series as steps.
func (r *Result) path(value func(*Point) float64, top float64) string {
	var b strings.Builder
	width := (chartRight - chartLeft) / float64(len(r.Series))
	last := math.NaN()
	for i := range r.Series {
		x, y := chartLeft+float64(i)*width, height(value(&r.Series[i]), top)
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M%g %g", round(x), y)
		case y != last:
			fmt.Fprintf(&b, "H%gV%g", round(x), y)
		}
		last = y
	}
	fmt.Fprintf(&b, "H%g", chartRight)
	return b.String()
}

// dayMarks returns at most ten ticks for days.
func (r *Result) dayMarks() []tick {
	unit, name := 24*time.Hour, "day"
	if r.Length < 2*unit {
		unit, name = time.Hour, "hour"
	}
	total := float64(r.Length) / float64(unit)
	step := max(1, math.Ceil(total/10))
	var out []tick
	for n := 0.0; n <= total; n += step {
		x := chartLeft + n/total*(chartRight-chartLeft)
		out = append(out, tick{X: round(min(x, chartRight-12)), Text: fmt.Sprintf("%s %g", name, n)}) // the text is in the middle
	}
	return out
}

func height(value, top float64) float64 {
	return round(chartBottom - value/top*(chartBottom-chartTop))
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// niceStep returns 1, 2 or 5 times a power of ten, so that four to ten steps reach the value.
func niceStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, k := range []float64{1, 2, 5, 10} {
		if most/(k*power) <= 6 {
			return k * power
		}
	}
	return 10 * power
}
