package clusterreport

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Money returns an amount of USD as viewers show it: with four digits after the point below $10, else with two.
func Money(usd float64) string {
	sign := ""
	if usd < 0 {
		sign, usd = "-", -usd
	}
	if usd = math.Round(usd*1e4) / 1e4; usd < 10 {
		if usd == 0 {
			sign = ""
		}
		return fmt.Sprintf("%s$%.4f", sign, usd)
	}
	return fmt.Sprintf("%s$%.2f", sign, usd)
}

// Age returns how long ago a time was, in one or two units, such as "42s", "7m", "3h20m" or "12d". It is "-" if the time is not known.
func Age(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	d := max(0, now.Sub(since))
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Count returns the number with the noun, in the plural unless the number is 1.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Cost says what the nodes cost, such as "$1.2000/h: on-demand $1.0000, spot $0.2000".
func (t *Totals) Cost() string {
	text := Money(t.HourlyCost) + "/h"
	for i, kind := range slices.Sorted(maps.Keys(t.ByCapacityType)) {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		name := kind
		if name == "" {
			name = "other"
		}
		text += sep + name + " " + Money(t.ByCapacityType[kind])
	}
	if t.WithoutPrice > 0 {
		text += fmt.Sprintf("; %s without a known price", Count(t.WithoutPrice, "node"))
	}
	return text
}

// Size says how large and how full the cluster is.
func (t *Totals) Size() string {
	return fmt.Sprintf("%s, %s, %d pending; requested: %.0f%% of CPU, %.0f%% of memory", Count(t.Nodes, "node"), Count(t.Pods, "pod"), t.Pending,
		100*Share(t.Requested.CPU, t.Allocatable.CPU), 100*Share(t.Requested.Memory, t.Allocatable.Memory))
}

// Sentence says what the commands have saved.
func (s Saved) Sentence(now time.Time) string {
	return fmt.Sprintf("%s/h saved by %s in %s", Money(s.PerHour), Count(s.Commands, "completed command"), Age(s.Since, now))
}

// Place says what the last plan decided about the pod.
func (p *Pod) Place() string {
	switch {
	case p.Planned != "":
		return p.Planned
	case p.Reason != "":
		return "no place: " + p.Reason
	}
	return "not planned yet"
}

// Does says what the node does: its state, with the reason why a command removes it.
func (n *Node) Does() string {
	if n.Reason == "" {
		return string(n.State)
	}
	return string(n.State) + ": " + n.Reason
}

// Removes names the removed nodes, at most three of them.
func (c *Command) Removes() string { return firstOf(c.Nodes) }

// Launches names the replacements, at most three of them.
func (c *Command) Launches() string {
	var list []string
	for _, r := range c.Replacements {
		list = append(list, r.String())
	}
	return firstOf(list)
}

func firstOf(list []string) string {
	const most = 3
	if len(list) == 0 {
		return "-"
	}
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
