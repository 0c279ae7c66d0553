package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// text formats the comparison for reading.
func (c *comparison) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s. %s pods, %s instance types", c.Scenario, c.About, grouped(c.Pods), grouped(c.InstanceTypes))
	if c.Existing > 0 {
		fmt.Fprintf(&b, ", %s nodes there", grouped(c.Existing))
	}
	if c.Seed != 0 {
		fmt.Fprintf(&b, ", seed %d", c.Seed)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\tdrawknife\tKarpenter %s\tratio\n", version(c.Karpenter))
	row := func(title string, value func(*outcome) string, ratio string) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", title, value(&c.Ours), value(&c.Theirs), ratio)
	}
	row("CPU time", func(o *outcome) string { return o.seconds(o.CPUSeconds) }, times(c.Speedup))
	row("wall time", func(o *outcome) string { return o.seconds(o.WallSeconds) }, "")
	row("allocated", func(o *outcome) string { return o.megabytes(o.AllocMB) }, quotient(c.AllocRatio))
	row("allocations", func(o *outcome) string {
		if o.Mallocs == nil {
			return o.CutOff
		}
		return grouped(*o.Mallocs)
	}, "")
	row("peak memory", func(o *outcome) string { return o.megabytes(o.PeakMB) }, quotient(c.PeakRatio))
	row("new nodes", func(o *outcome) string { return o.count(o.Nodes) }, "")
	row("unschedulable", func(o *outcome) string { return o.count(o.Unschedulable) }, "")
	row("hourly cost", func(o *outcome) string { return o.money() }, quotient(c.CostRatio))
	if c.LowerBound != nil && *c.LowerBound > 0 {
		bound := *c.LowerBound
		row(fmt.Sprintf("cost / bound $%.2f", bound), func(o *outcome) string {
			if o.HourlyCost == nil {
				return o.CutOff
			}
			return fmt.Sprintf("%.4f", *o.HourlyCost/bound)
		}, "")
	}
	row("refused placements", func(o *outcome) string { return o.count(o.Refused) }, "")
	t.Flush() // writing to memory can't fail
	for _, side := range []struct {
		name string
		of   *outcome
	}{{"drawknife", &c.Ours}, {"Karpenter", &c.Theirs}} {
		for _, refusal := range side.of.Refusals {
			fmt.Fprintf(&b, "refused of %s: %s\n", side.name, refusal)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// version returns the library's version, without the version of Go with which it was built.
func version(stated string) string {
	v, _, _ := strings.Cut(stated, " ")
	return v
}

func (o *outcome) seconds(s *float64) string {
	if s == nil {
		return o.CutOff
	}
	return seconds(*s)
}

func (o *outcome) megabytes(mb *float64) string {
	if mb == nil {
		return o.CutOff
	}
	return fmt.Sprintf("%.1f MB", *mb)
}

func (o *outcome) count(n *int) string {
	if n == nil {
		return o.CutOff
	}
	return grouped(*n)
}

func (o *outcome) money() string {
	if o.HourlyCost == nil {
		return o.CutOff
	}
	return fmt.Sprintf("$%.3f", *o.HourlyCost)
}

// times formats a speed-up: "1,412x".
func times(q *float64) string {
	switch {
	case q == nil:
		return ""
	case *q < 10:
		return fmt.Sprintf("%.1fx", *q)
	}
	return grouped(int(*q+0.5)) + "x"
}

func quotient(q *float64) string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("%.4f", *q)
}

// grouped formats a number with commas between groups of three digits.
func grouped[N int | uint64](n N) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 && digits[i-1] != '-' {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
