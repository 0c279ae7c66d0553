package main

import (
	"fmt"
	"runtime"
	"strings"
	"time"
)

// fleetTable returns the results as a table in Markdown.
func fleetTable(made []*consolidation, given []string) string {
	return fleetTableOf(made, given, time.Now())
}

func fleetTableOf(made []*consolidation, given []string, now time.Time) string {
	var b strings.Builder
	karpenter := ""
	if len(made) > 0 {
		karpenter = version(made[0].Karpenter)
	}
	fmt.Fprintf(&b, "%s, %s, %s, Karpenter %s. `%s`\n\n", now.UTC().Format(time.DateOnly), node(), runtime.Version(), karpenter, command(given))
	b.WriteString("| fleet | planner | CPU time | allocated | rounds | commands | evictions | for each $/h saved | nodes | $/h | / bound | refused |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range made {
		row(&b, c.Scenario, "as given, "+grouped(c.Pods)+" pods", "", "", "", "", "", "", grouped(c.Nodes), fmt.Sprintf("%.2f", c.HourlyCost),
			number(ratio(c.HourlyCost, c.LowerBound)), "")
		for _, side := range []struct {
			name string
			of   *drive
		}{{"drawknife", &c.Ours}, {"its Reference", &c.Reference}, {"Karpenter", &c.Theirs}} {
			d := side.of
			name, cost := side.name, fmt.Sprintf("%.2f", d.HourlyCost)
			if d.CutOff != "" {
				name, cost = name+", "+d.CutOff, cost+" by then"
			}
			row(&b, "", name, seconds(d.CPUSeconds), fmt.Sprintf("%.0f MB", d.AllocMB), grouped(d.Rounds), grouped(d.Commands), grouped(d.Evictions),
				number(d.EvictionsPerDollar), grouped(d.Nodes), cost, number(ratio(d.HourlyCost, c.LowerBound)), grouped(d.Refused))
		}
	}
	b.WriteString("\n| fleet | bound $/h | drawknife faster than Karpenter | cost, drawknife / Karpenter | drawknife after three rounds $/h | / Reference in the end |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|\n")
	for _, c := range made {
		row(&b, c.Scenario, fmt.Sprintf("%.2f", c.LowerBound), c.faster(), quotient(c.CostRatio),
			fmt.Sprintf("%.2f", c.after(&c.Ours, roundsForReference)), quotient(c.ReferenceRatio))
	}
	return b.String()
}
