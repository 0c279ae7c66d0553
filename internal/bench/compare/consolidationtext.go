package main

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
)

// text formats the consolidation for reading.
func (c *consolidation) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s. %s nodes, %s pods, %s instance types, $%.3f/h, seed %d, spot to spot %t\n",
		c.Scenario, c.About, grouped(c.Nodes), grouped(c.Pods), grouped(c.InstanceTypes), c.HourlyCost, c.Seed, c.SpotToSpot)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\tdrawknife\tits Reference\tKarpenter %s\tdrawknife by Karpenter\n", version(c.Karpenter))
	row := func(title string, value func(*drive) string, ratio string) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", title, value(&c.Ours), value(&c.Reference), value(&c.Theirs), ratio)
	}
	row("CPU time", func(d *drive) string { return seconds(d.CPUSeconds) }, c.faster())
	row("wall time", func(d *drive) string { return seconds(d.WallSeconds) }, "")
	row("allocated", func(d *drive) string { return fmt.Sprintf("%.1f MB", d.AllocMB) }, "")
	row("peak memory", func(d *drive) string { return fmt.Sprintf("%.1f MB", d.PeakMB) }, "")
	row("rounds", func(d *drive) string { return grouped(d.Rounds) }, "")
	row("commands", func(d *drive) string { return grouped(d.Commands) }, "")
	row("evictions", func(d *drive) string { return grouped(d.Evictions) }, "")
	row("evictions for each $/h", func(d *drive) string { return number(d.EvictionsPerDollar) }, "")
	row("nodes left", func(d *drive) string { return grouped(d.Nodes) }, "")
	row("hourly cost", func(d *drive) string { return d.money(d.HourlyCost) }, quotient(c.CostRatio))
	row("after three rounds", func(d *drive) string { return fmt.Sprintf("$%.3f", c.after(d, roundsForReference)) }, "")
	row(fmt.Sprintf("cost / bound $%.2f", c.LowerBound), func(d *drive) string {
		return number(ratio(d.HourlyCost, c.LowerBound))
	}, "")
	row("broken off searches", func(d *drive) string { return grouped(d.Timeouts) }, "")
	row("refused", func(d *drive) string { return grouped(d.Refused) }, "")
	t.Flush() // writing to memory can't fail
	for _, side := range []struct {
		name string
		of   *drive
	}{{"drawknife", &c.Ours}, {"drawknife's Reference", &c.Reference}, {"Karpenter", &c.Theirs}} {
		if side.of.CutOff != "" {
			fmt.Fprintf(&b, "%s was %s: its figures are those after its last command\n", side.name, side.of.CutOff)
		}
		for _, refusal := range side.of.Refusals {
			fmt.Fprintf(&b, "refused of %s: %s\n", side.name, refusal)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// faster returns the speed-up as text. If Karpenter did not finish in time, the text gives a lower bound of the speed-up.
func (c *consolidation) faster() string {
	if c.SpeedupAtLeast != nil {
		least := math.Floor(*c.SpeedupAtLeast)
		return "more than " + times(&least)
	}
	return times(c.Speedup)
}

// money formats a cost, followed by "by then" if the run did not finish in time.
func (d *drive) money(cost float64) string {
	if d.CutOff != "" {
		return fmt.Sprintf("$%.3f by then", cost)
	}
	return fmt.Sprintf("$%.3f", cost)
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.1f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

func number(q *float64) string {
	if q == nil {
		return ""
	}
	return fmt.Sprintf("%.3f", *q)
}
