package main

import (
	"fmt"
	"strings"
)

// report writes docs/compatibility.md.
func report(t *table, versions []string, verdicts []verdict) string {
	var b strings.Builder
	b.WriteString(`# Compatibility

For those who want to know how far this project behaves as Karpenter and kube-scheduler do. The figures come from the peers' own test suites, run against this
project: ` + strings.Join(versions, ", ") + `. The suites are run from the published Go modules, once as they are and once with a part of
this project in the place of the original. ` + "`.ci/run compatibility`" + ` writes this page's figures again and fails on a difference
that is not explained here. Do not edit it: edit ` + "`internal/compat/differences.yaml`" + ` and run ` + "`go -C internal/compat run . -write`" + `.

## Counts

| Suite | what is in place of the original | specs | apply | agree | differ, explained below | not explained |
|---|---|---|---|---|---|---|
`)
	total := verdict{}
	for _, v := range verdicts {
		s := suiteNamed(v.suite)
		apply := v.agree + v.differs + countUnexplained(v)
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d |\n", s.title, s.replaces, v.specs, apply, v.agree, v.differs, countUnexplained(v))
		total.specs += v.specs
		total.agree += v.agree
		total.differs += v.differs
		total.notHere += v.notHere
		total.outside += v.outside
	}
	fmt.Fprintf(&b, "| **all** | | %d | %d | %d | %d | |\n", total.specs, total.agree+total.differs, total.agree, total.differs)
	fmt.Fprintf(&b, `
A spec does not apply when it never asks what is replaced (%d), or when the release itself does not pass it here, where an in-memory API
server stands in for a real one (%d). The release passes all others.

A spec of kube-scheduler is one verdict of a filter: what it answered about a pod and a node while its own tests ran. Answers to
PreFilter that turn a pod away are specs, too. The planner is given the test's cluster and must place the pod on that node, or must
not. It answers for all filters together: where the plugin lets the pod pass, NodeAffinity, TaintToleration and NodeUnschedulable are
asked as well; nodes get room for the pod unless resources are what the test is about. A verdict does not apply when the plugin ends
with an error or runs with arguments of its own. Scores, preemption and deferred resizes are not compared.

Karpenter's disruption controller asks `+"`disruption.Reference`"+` in place of its methods, and gets commands, events and gauges from it. What
follows on a command is Karpenter's: the wait, the validation and the queue that carries it out. `+"`disruption.Global`"+`, the default, differs
on purpose and is not compared.

Where pods claim devices, Karpenter's own allocator then allocates what the plan counts on, in the plan's order, on each of the instance types that it leaves a
new node. If it can't, the pod is not scheduled and the spec fails.

## Differences

`, total.outside, total.notHere)
	b.WriteString("| Difference | specs | why |\n|---|---|---|\n")
	for _, r := range t.Reasons {
		n := 0
		for _, v := range verdicts {
			n += v.byReason[r.Name]
		}
		name := r.Name
		if r.Defect {
			name += " (to be mended)"
		}
		fmt.Fprintf(&b, "| %s | %d | %s |\n", name, n, oneLine(r.Why))
	}
	if len(t.NotHere) > 0 {
		b.WriteString("\n## Specs that the release does not pass here\n\n| Subject | why |\n|---|---|\n")
		for _, r := range t.NotHere {
			fmt.Fprintf(&b, "| %s | %s |\n", r.Name, oneLine(r.Why))
		}
	}
	b.WriteString("\nThe specs of each row are listed in `internal/compat/differences.yaml`.\n")
	return b.String()
}

func countUnexplained(v verdict) int {
	n := 0
	for _, u := range v.unexplained {
		if !strings.HasPrefix(u, "differences.yaml") {
			n++
		}
	}
	return n
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func suiteNamed(name string) suite {
	for _, s := range suites() {
		if s.name == name {
			return s
		}
	}
	return suite{title: name}
}
