package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/internal/workload"
)

// These are the lines before and after the tables.
const (
	tablesBegin = "<!-- corpus: begin -->"
	tablesEnd   = "<!-- corpus: end -->"
)

// writeTables writes the tables of a run into a Markdown file.
func writeTables(name string, rows []*row, known records, args []string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(old), tablesBegin+"\n")
	_, tail, ends := strings.Cut(rest, tablesEnd)
	if !found || !ends {
		return fmt.Errorf("%s: it has no lines %s and %s", name, tablesBegin, tablesEnd)
	}
	text := tables(rows, known, args, time.Now())
	return os.WriteFile(name, []byte(head+tablesBegin+"\n"+text+tablesEnd+tail), 0o644)
}

// tables returns three tables: the ordinary clusters with the first two seeds, a summary of all ordinary clusters, and all other scenarios.
func tables(rows []*row, known records, args []string, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d cores, %s, %s. `%s`\n", now.UTC().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), versions(rows), command(args))
	var ordinary, first, others []*row
	for _, r := range rows {
		o, err := workload.ParseOrdinary(r.Scenario)
		switch {
		case err != nil || !isOrdinary(r.Scenario):
			others = append(others, r)
			continue
		case o.Seed <= 2 && o.Pods == 0:
			first = append(first, r)
		}
		ordinary = append(ordinary, r)
	}
	if len(first) > 0 {
		b.WriteString("\n**Ordinary clusters, seeds 1 and 2**\n\n")
		costs(&b, first, known)
	}
	if len(ordinary) > 0 {
		b.WriteString("\n**All ordinary clusters, by kind**: mean and worst\n\n")
		kinds(&b, ordinary)
	}
	if len(others) > 0 {
		b.WriteString("\n**Mixes, saved cases and traces**\n\n")
		costs(&b, others, known)
	}
	return b.String()
}

// costs writes a table line for each scenario.
func costs(b *strings.Builder, rows []*row, known records) {
	b.WriteString("| | pods | types | $/h, ours | Karpenter | ours / Karpenter | proven bound | ours / bound | reported gap | vector greedy | ours / greedy | best known | found by | ours / best | CPU, ours | Karpenter | speed-up |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|\n")
	for _, r := range rows {
		gap := ""
		if r.OverBound > 0 && r.Cost > 0 {
			gap = fmt.Sprintf("%.1f %%", (r.OverBound-1)*100)
		}
		by := ""
		if k := known[r.Scenario]; k != nil {
			by = k.BestBy
		}
		cells(b, "`"+r.Scenario+"`", fmt.Sprint(r.Pods), fmt.Sprint(r.Types), money(r.Cost), money(r.KarpenterCost), marked(r.OverKarpenter),
			money(r.ProvenBound), ratio(quotient(r.Cost, r.ProvenBound)), gap, money(r.GreedyCost), marked(r.OverGreedy),
			money(r.BestCost), by, ratio(r.OverBest), fmt.Sprintf("%.0f ms", r.CPUSeconds*1000), seconds(r.KarpenterCPUSeconds), times(r.Speedup))
	}
}

// kinds writes a table line for each kind of ordinary cluster. Clusters of one kind have the same families, rules and zones, and differ
// only in their seeds.
func kinds(b *strings.Builder, rows []*row) {
	b.WriteString("| families, rules, zones | clusters | ours / Karpenter | ours / bound | ours / greedy | ours / best known | speed-up |\n|---|---:|---:|---:|---:|---:|---:|\n")
	kind := func(r *row) string {
		return r.Scenario[:strings.LastIndexByte(strings.TrimSuffix(r.Scenario, "p"), '-')]
	}
	var order []string
	groups := make(map[string][]*row)
	for _, r := range rows {
		k := kind(r)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	slices.Sort(order)
	for _, k := range order {
		line(b, "`"+k+"`", groups[k])
	}
	line(b, "all", rows)
}

func line(b *strings.Builder, name string, rows []*row) {
	cells(b, name, fmt.Sprint(len(rows)),
		meanAndWorst(rows, marked, func(r *row) float64 { return r.OverKarpenter }),
		meanAndWorst(rows, ratio, func(r *row) float64 { return quotient(r.Cost, r.ProvenBound) }),
		meanAndWorst(rows, marked, func(r *row) float64 { return r.OverGreedy }),
		meanAndWorst(rows, ratio, func(r *row) float64 { return r.OverBest }),
		slowest(rows))
}

// meanAndWorst formats the geometric mean and the largest value of a ratio, or "-" if no row has it.
func meanAndWorst(rows []*row, shown func(float64) string, of func(*row) float64) string {
	mean, worst, _, n := statistics(rows, of)
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f, %s", mean, shown(worst))
}

// statistics returns the geometric mean and the largest value of a ratio, how many values are above 1, and how many rows have a value.
func statistics(rows []*row, of func(*row) float64) (mean, worst float64, above, n int) {
	logs := 0.0
	for _, r := range rows {
		q := of(r)
		if q <= 0 {
			continue
		}
		n++
		logs += math.Log(q)
		worst = max(worst, q)
		if q > 1+1e-9 {
			above++
		}
	}
	return math.Exp(logs / float64(max(n, 1))), worst, above, n
}

func slowest(rows []*row) string {
	mean, least, n := 0.0, math.Inf(1), 0
	for _, r := range rows {
		if r.Speedup > 0 {
			n++
			mean += math.Log(r.Speedup)
			least = min(least, r.Speedup)
		}
	}
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%s, %s", times(math.Exp(mean/float64(n))), times(least))
}

// marked formats the ratio of the cost of drawknife's plan to another cost. A ratio above 1 is bold, because then drawknife's plan is more
// expensive than the other cost.
func marked(x float64) string {
	if x > 1+1e-9 {
		return "**" + ratio(x) + "**"
	}
	return ratio(x)
}

func seconds(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x < 1:
		return fmt.Sprintf("%.0f ms", x*1000)
	}
	return fmt.Sprintf("%.1f s", x)
}

func cells(b *strings.Builder, list ...string) {
	b.WriteString("| " + strings.Join(list, " | ") + " |\n")
}

// versions names the releases of Karpenter whose figures are shown.
func versions(rows []*row) string {
	var found []string
	for _, r := range rows {
		if v, _, _ := strings.Cut(r.KarpenterVersion, " "); v != "" && !slices.Contains(found, v) {
			found = append(found, v)
		}
	}
	slices.Sort(found)
	if len(found) == 0 {
		return "without Karpenter"
	}
	return "Karpenter " + strings.Join(found, ", ")
}

// command returns the command line as text, with file names instead of absolute paths.
func command(args []string) string {
	words := []string{"go run ./corpus"}
	for _, word := range args {
		if filepath.IsAbs(word) {
			word = filepath.Base(word)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
