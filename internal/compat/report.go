package main

import (
	"fmt"
	"strings"
)

// report writes docs/compatibility.md.
func report(t *table, versions []string, verdicts []verdict) string {
	var b strings.Builder
	b.WriteString(`# Compatibility

This page is for readers who want to know how closely drawknife behaves like Karpenter and kube-scheduler. The numbers come from the test
suites of these projects and versions, which run against drawknife:

` + "- " + strings.Join(versions, "\n- ") + `

The suites come from the published Go modules. Each suite runs twice: once unchanged, and once with a part of drawknife instead of the
original part. ` + "`.ci/run compatibility`" + ` generates this page again, and fails if there is a difference that is not explained here. Do not
edit this page: edit ` + "`internal/compat/differences.yaml`" + ` and run ` + "`go -C internal/compat run . -write`" + `.

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
A spec does not apply if it never calls the replaced part (%d). A spec also does not apply if the unchanged release fails it, because the
test uses an in-memory API server instead of a real one (%d). Each unchanged release passes all its other specs.

A spec of kube-scheduler is one verdict of a filter about a pod and a node, recorded while kube-scheduler's own tests ran. Verdicts of
PreFilter that reject a pod are also specs. The planner gets the test's cluster. It must place the pod on the node if the filter accepts the
pod, and must not place it there if the filter rejects the pod. The planner applies all filters together: if the plugin accepts the pod, the
verdicts of NodeAffinity, TaintToleration and NodeUnschedulable are compared as well. Nodes have room for the pod, except in tests about
resources. A verdict does not apply if the plugin returns an error, or if it runs with special arguments. Scores, preemption and deferred
resizes are not compared.

Karpenter's disruption controller calls `+"`disruption.Reference`"+` instead of its own methods, and gets commands, events and gauges from it.
After a command has been made, only Karpenter's own code runs: the wait, the validation, and the queue that executes the command. The
default planner, `+"`disruption.Global`"+`, differs on purpose and is not compared.

If pods claim devices, Karpenter's own allocator then allocates the devices of the plan, in the plan's order, on each instance type that the
plan allows for a new node. If the allocator can't allocate them, the pod is not scheduled and the spec fails.

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
