package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// table prints its rows one at a time, so that people can follow a long run.
type table struct {
	out   io.Writer
	begun bool
}

func newTable(out io.Writer) *table { return &table{out: out} }

func (t *table) add(r *row) error {
	if !t.begun {
		t.begun = true
		if _, err := fmt.Fprintf(t.out, "%-22s %9s %9s %6s %8s %9s %6s %9s %9s %6s %6s %9s %6s\n", "scenario", "ours $/h", "own bound", "ratio", "CPU ms",
			"greedy", "ratio", "first fit", "Karpenter", "ratio", "faster", "best", "ratio"); err != nil {
			return err
		}
	}
	mark := ""
	if r.worse() != "" {
		mark = "  !"
	}
	if r.Unschedulable > 0 {
		mark += fmt.Sprintf("  %d unschedulable", r.Unschedulable)
	}
	if r.Refused > 0 {
		mark += fmt.Sprintf("  %d refused", r.Refused)
	}
	_, err := fmt.Fprintf(t.out, "%-22s %9s %9s %6s %8.1f %9s %6s %9s %9s %6s %6s %9s %6s%s\n", r.Scenario, money(r.Cost), money(r.Bound), ratio(r.OverBound), r.CPUSeconds*1000,
		money(r.GreedyCost), ratio(r.OverGreedy), money(r.FirstFitCost), money(r.KarpenterCost), ratio(r.OverKarpenter), times(r.Speedup),
		money(r.BestCost), ratio(r.OverBest), mark)
	return err
}

// summary prints the mean and the worst value of each ratio, and the CPU times.
func (t *table) summary(rows []*row) {
	var lines []string
	for _, kind := range []struct {
		name string
		of   func(*row) float64
	}{
		{"own bound", func(r *row) float64 { return r.OverBound }}, {"vector greedy", func(r *row) float64 { return r.OverGreedy }},
		{"Karpenter", func(r *row) float64 { return r.OverKarpenter }}, {"best known", func(r *row) float64 { return r.OverBest }},
	} {
		if mean, worst, above, n := statistics(rows, kind.of); n > 0 {
			lines = append(lines, fmt.Sprintf("ours / %s: mean %.4f, worst %.4f, above 1 in %d of %d", kind.name, mean, worst, above, n))
		}
	}
	total := 0.0
	for _, r := range rows {
		total += r.CPUSeconds
	}
	line := fmt.Sprintf("CPU %.2f s in all", total)
	if of := speedups(rows); of != "" {
		line += "; Karpenter / ours: " + of
	}
	fmt.Fprintf(t.out, "\n%s\n", strings.Join(append(lines, line), "\n"))
}

// likelyFaster is the ratio of CPU times (Karpenter's divided by drawknife's) that every plan of an ordinary cluster should reach.
const likelyFaster = 10

// speedups describes the ratios of CPU times (Karpenter's divided by drawknife's). It gives the geometric mean, the smallest ratio, and the
// plans with a ratio below likelyFaster. It returns "" if no ratio is known.
func speedups(rows []*row) string {
	known := slices.DeleteFunc(slices.Clone(rows), func(r *row) bool { return r.Speedup <= 0 })
	if len(known) == 0 {
		return ""
	}
	slices.SortStableFunc(known, func(a, b *row) int { return cmp.Compare(a.Speedup, b.Speedup) })
	mean, _, _, _ := statistics(known, func(r *row) float64 { return r.Speedup })
	text := fmt.Sprintf("mean %.1f, at least %.1f times (%s)", mean, known[0].Speedup, known[0].Scenario)
	var below []string
	for _, r := range known {
		if r.Speedup < likelyFaster {
			below = append(below, fmt.Sprintf("%s %.1f", r.Scenario, r.Speedup))
		}
	}
	text += fmt.Sprintf(", below %d in %d of %d", likelyFaster, len(below), len(known))
	if len(below) > 0 {
		text += ": " + strings.Join(below, ", ")
	}
	return text
}

func money(x float64) string {
	switch {
	case x == 0 || math.IsInf(x, 1):
		return "-"
	case x < 10:
		return fmt.Sprintf("%.4f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func ratio(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", x)
}

func times(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x < 10:
		return fmt.Sprintf("%.1fx", x)
	}
	return fmt.Sprintf("%.0fx", x)
}
