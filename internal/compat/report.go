package main

import (
	"fmt"
	"strings"
)

// report writes docs/compatibility.md.
func report(t *table, versions []string, verdicts []verdict) string {
	var b strings.Builder
	b.WriteString(`# Compatibility

This page is for readers who want to know how closely this project behaves like Karpenter and kube-scheduler. The figures come from their
own test suites, which run against this project:

` + "- " + strings.Join(versions, "\n- ") + `

The suites come from the published Go modules. They run once unchanged, and once with a part of this project in place of the original.
` + "`.ci/run compatibility`" + ` generates this page again, and fails if there is a difference that is not explained here. Do not edit this
page: edit ` + "`internal/compat/differences.yaml`" + ` and run ` + "`go -C internal/compat run . -write`" + `.

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
A spec does not apply if it never calls the replaced part (%d), or if the release itself does not pass it here, because an in-memory API
server takes the place of a real one (%d). Apart from these, each release passes all of its own specs here.

A spec of kube-scheduler is one verdict of a filter: its answer about a pod and a node, recorded while its own tests ran. Answers of
PreFilter that reject a pod are also specs. The planner gets the test's cluster, and must place the pod on that node exactly if the filter
accepts the pod. Its answer is for all filters together: if the plugin accepts the pod, NodeAffinity, TaintToleration and
NodeUnschedulable are checked as well. Nodes have room for the pod, unless the test is about resources. A verdict does not apply if the
plugin returns an error, or if it runs with special arguments. Scores, preemption and deferred resizes are not compared.

Karpenter's disruption controller calls `+"`disruption.Reference`"+` instead of its own methods, and gets commands, events and gauges from it.
Everything after a command is Karpenter's own code: the wait, the validation and the queue that carries it out. The default planner,
`+"`disruption.Global`"+`, differs on purpose and is not compared.

If pods claim devices, Karpenter's own allocator then allocates the devices of the plan, in the plan's order, on each instance type that
the plan allows for a new node. If it can't, the pod is not scheduled and the spec fails.

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
