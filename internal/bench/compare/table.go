package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// markers are the lines before and after a table in a Markdown file.
type markers struct{ begins, ends string }

var (
	planMarkers  = markers{"<!-- compare: begin -->", "<!-- compare: end -->"}
	fleetMarkers = markers{"<!-- consolidate: begin -->", "<!-- consolidate: end -->"}
)

// writeTable replaces the text between the markers in a Markdown file by the table.
func writeTable(name string, at markers, table string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := at.replace(string(old), table)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

func (m markers) replace(document, table string) (string, error) {
	head, rest, found := strings.Cut(document, m.begins+"\n")
	_, tail, ends := strings.Cut(rest, m.ends)
	if !found || !ends {
		return "", fmt.Errorf("the file has no lines %s and %s", m.begins, m.ends)
	}
	return head + m.begins + "\n" + table + m.ends + tail, nil
}

// table returns the results as a table in Markdown.
func table(made []*comparison, given []string, now time.Time) string {
	var b strings.Builder
	karpenter := ""
	if len(made) > 0 {
		karpenter = version(made[0].Karpenter)
	}
	fmt.Fprintf(&b, "%s, %s, %s, Karpenter %s. `%s`\n\n", now.UTC().Format(time.DateOnly), node(), runtime.Version(), karpenter, command(given))
	b.WriteString("| | pods | CPU time, ours | theirs | speed-up | allocated, ours | theirs | peak, ours | theirs |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range made {
		row(&b, c.Scenario, grouped(c.Pods), c.Ours.seconds(c.Ours.CPUSeconds), c.Theirs.seconds(c.Theirs.CPUSeconds), times(c.Speedup),
			c.Ours.megabytes(c.Ours.AllocMB), c.Theirs.megabytes(c.Theirs.AllocMB),
			c.Ours.megabytes(c.Ours.PeakMB), c.Theirs.megabytes(c.Theirs.PeakMB))
	}
	b.WriteString("\n| | nodes, ours | theirs | unschedulable, ours | theirs | $/h, ours | theirs | ours / theirs | bound $/h | ours / bound | theirs / bound | refused, ours | theirs |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range made {
		bound := ""
		if c.LowerBound != nil {
			bound = fmt.Sprintf("%.2f", *c.LowerBound)
		}
		row(&b, c.Scenario, c.Ours.count(c.Ours.Nodes), c.Theirs.count(c.Theirs.Nodes), c.Ours.count(c.Ours.Unschedulable), c.Theirs.count(c.Theirs.Unschedulable),
			strings.TrimPrefix(c.Ours.money(), "$"), strings.TrimPrefix(c.Theirs.money(), "$"), quotient(c.CostRatio),
			bound, c.overBound(&c.Ours), c.overBound(&c.Theirs), c.Ours.count(c.Ours.Refused), c.Theirs.count(c.Theirs.Refused))
	}
	return b.String()
}

// overBound returns the cost divided by the bound as text, or "" if there is no bound.
func (c *comparison) overBound(o *outcome) string {
	if o.HourlyCost == nil || c.LowerBound == nil || *c.LowerBound <= 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", *o.HourlyCost / *c.LowerBound)
}

func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// command returns the command line as text, with file names instead of absolute paths.
func command(given []string) string {
	words := []string{"go run ./compare"}
	for _, word := range given {
		if filepath.IsAbs(word) {
			word = filepath.Base(word)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// node returns the number of cores and the model of the processor, or the architecture if the model is not known.
func node() string {
	model := runtime.GOARCH
	info, _ := os.ReadFile("/proc/cpuinfo")
	lines := bufio.NewScanner(bytes.NewReader(info))
	for lines.Scan() {
		if key, value, found := strings.Cut(lines.Text(), ":"); found && strings.TrimSpace(key) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%d cores (%s)", runtime.NumCPU(), model)
}
