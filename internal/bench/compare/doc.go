// The program compare plans one workload with drawknife and with Karpenter and prints what each took and what its plan is
// worth. From the folder internal/bench:
//
//	go run ./compare                                   # scenarios a to g, and h where $DRAWKNIFE_DATA has its files
//	go run ./compare --scenario b --pods 1000          # one of them, at another size
//	go run ./compare --scenario shop.yaml -o json      # a file; package scenario documents its form
//	go run ./compare --scenario h --pods-file pods.json --pods-file nodepool.yaml --catalog ec2.json
//	go run ./compare --table ../../docs/benchmarks.md  # writes the table there
//
// Both sides are given the same JSON document, a saved scheduling.Snapshot, and plan it in a process of their own, one
// after the other: drawknife in this program, Karpenter in that of internal/bench/karpenter, which is built first.
// Measured is the way from objects to a plan (drawknife: compile and solve; Karpenter: topology, scheduler, solve);
// reading the document is not. Of several --runs, the one with the least CPU time counts on each side.
//
// What the plans are worth is said by package judge, by one rule for both: machines are priced at the cheapest available
// offering that the plan leaves open, and every placement is checked as a cluster would. The lower bound holds for any
// machines that hold the pods both sides placed.
//
// # Results as JSON
//
// One document a scenario: scenario, pods, seed; ours and theirs, each with wallSeconds, cpuSeconds, allocMB, mallocs,
// peakMB, nodes (machines to launch), unschedulable, hourlyCost (USD), refused (placements a cluster would refuse) with
// refusals (the first of them); lowerBound (USD per hour); speedup (CPU seconds, theirs by ours); costRatio (hourly cost,
// ours by theirs); allocRatio and peakRatio (ours by theirs); karpenter (its version).
//
// A side that is stopped by --timeout has cutOff, a sentence, and null for every number; ratios with it are null, and so
// is costRatio where the sides place different numbers of pods or theirs costs nothing and ours does.
//
// The exit status is 0 when the comparison was made, 1 when it was not, and 2 when it was but a placement of drawknife's
// is refused or its plan is the dearer one.
package main
