// The program compare plans one workload with drawknife and with Karpenter and prints what each took and what its plan is
// worth. From the folder internal/bench:
//
//	go run ./compare                                   # scenarios a to g, and h where $DRAWKNIFE_DATA has its files
//	go run ./compare --scenario b --pods 1000          # one of them, at another size
//	go run ./compare --scenario shop.yaml -o json      # a file; package scenario documents its form
//	go run ./compare --scenario m5-both-3z-1           # one of the corpus; see go doc ./scenario Named
//	go run ./compare --scenario h --pods-file pods.json --pods-file nodepool.yaml --catalog ec2.json
//	go run ./compare --table ../../docs/benchmarks.md  # writes the table there
//	go run ./compare --scenario consolidate-500        # consolidates a fleet; consolidate stands for the published ones
//
// Both sides are given the same JSON document, a saved scheduling.Snapshot, and plan it in a process of their own, one
// after the other: drawknife in this program, Karpenter in that of internal/bench/karpenter, which is built first.
// Measured is the way from objects to a plan (drawknife: compile and solve; Karpenter: topology, scheduler, solve);
// reading the document is not. Of several --runs, the one with the least CPU time counts on each side.
//
// What the plans are worth is said by package judge, by one rule for both: nodes are priced at the cheapest available
// offering that the plan leaves open, and every placement is checked as a cluster would. The lower bound holds for any
// nodes that hold the pods both sides placed.
//
// # Results as JSON
//
// One document a scenario: scenario, pods, seed; ours and theirs, each with wallSeconds, cpuSeconds, allocMB, mallocs,
// peakMB, nodes (nodes to launch), unschedulable, hourlyCost (USD), refused (placements a cluster would refuse) with
// refusals (the first of them); lowerBound (USD per hour); speedup (CPU seconds, theirs by ours); costRatio (hourly cost,
// ours by theirs); allocRatio and peakRatio (ours by theirs); karpenter (its version).
//
// A side that is stopped by --timeout has cutOff, a sentence, and null for every number; ratios with it are null, and so
// is costRatio where the sides place different numbers of pods or theirs costs nothing and ours does.
//
// # Fleets
//
// consolidate-N is a fleet of N nodes that are two fifths full, and consolidate-mixed-N one whose pods have constraints.
// consolidate-m5-both-3z-1-60n is one of 60 nodes of the ordinary cluster m5-both-3z-1, and consolidate-ordinary-60 stands for
// eight such, of one instance family and three, 3 zones and 6, with rules between pods and without.
// disruption.Global, disruption.Reference and Karpenter's consolidation methods plan for it, all commands are carried out at
// once, and so on until nothing is found any more: no thresholds, no cool-downs, no waiting, budgets that forbid nothing.
// --spot-to-spot=false forbids all three to replace spot nodes by spot nodes, which Karpenter's default is.
// Measured is planning: for drawknife from the objects, compiled anew in each round; for Karpenter from the cluster state it
// keeps up to date. Whatever a planner decides is carried out here once more from what it prints, and judged command by
// command: each pod on its node, each launched node bought at the cheapest available offering that the plan leaves open.
//
// One JSON document a fleet: scenario, about, seed, nodes, pods, instanceTypes, spotToSpot; hourlyCost as given and lowerBound
// of any machines for the pods (USD per hour); ours, reference and theirs, each with wallSeconds, cpuSeconds, allocMB,
// mallocs, peakMB, rounds (looks that found something), commands, removed, launched, timeouts (searches that the planner broke
// off for lack of time), evictions (a pod each time it moves), nodes and hourlyCost in the end, evictionsPerDollar (by USD per hour saved), costByRound, refused with refusals (the first
// of them); speedup (CPU seconds, theirs by ours); costRatio (final cost, ours by theirs); referenceRatio (the cost of ours
// after three rounds at most by that of reference in the end); karpenter. A planner that --timeout stops has cutOff, a
// sentence, and its other fields say how far it had come with its last command, so that cpuSeconds is less than was spent;
// ratios with its end are null, and speedupAtLeast stands for speedup.
//
// The exit status is 0 when the comparison was made, 1 when it was not, and 2 when it was but a placement of drawknife's
// is refused, its plan or fleet is the dearer one, or that of Reference is cheaper.
package main
