// The program compare plans one workload with drawknife and with Karpenter, and prints time, memory and cost of each plan. Run it in the
// folder internal/bench:
//
//	go run ./compare                                   # scenarios a to g, and h if its files are in $DRAWKNIFE_DATA
//	go run ./compare --scenario b --pods 1000          # scenario b with another number of pods
//	go run ./compare --scenario shop.yaml -o json      # a file; package scenario documents its form
//	go run ./compare --scenario m5-both-3z-1           # a scenario of the corpus; see go doc ./scenario Named
//	go run ./compare --scenario h --pods-file pods.json --pods-file nodepool.yaml --catalog ec2.json
//	go run ./compare --table ../../docs/benchmarks.md  # writes the table there
//	go run ./compare --scenario consolidate-500        # consolidates a fleet; consolidate stands for the published ones
//
// Both sides get the same JSON document, a saved scheduling.Snapshot. Each planner plans the workload in a separate process, one after the
// other. drawknife runs in this program. Karpenter runs in the program of internal/bench/karpenter, which is built first. The measured time
// begins when the objects exist and ends with the plan (drawknife: compile and solve; Karpenter: topology, scheduler, solve). Reading the
// document is not measured. With several --runs, the run with the least CPU time is shown for each side.
//
// Package judge computes the cost of both plans by the same rule: each node is priced at the cheapest available offering that the plan
// allows. It also checks whether a cluster would accept each placement. The lower bound is a price below which no set of new nodes can run
// the pods that both planners place.
//
// # Results as JSON
//
// The output has one document per scenario, with these keys:
//
//	scenario, about, pods, seed, existingNodes, instanceTypes
//	ours, theirs           the results of the two sides, see below
//	lowerBound             USD per hour
//	speedup                CPU seconds, theirs divided by ours
//	costRatio              hourly cost, ours divided by theirs
//	allocRatio, peakRatio  allocated and peak memory, ours divided by theirs
//	karpenter              the version of Karpenter
//
// The result of a side has these keys:
//
//	wallSeconds, cpuSeconds, allocMB, mallocs, peakMB
//	nodes                  the number of nodes to launch
//	unschedulable          the number of pods without a place
//	hourlyCost             USD
//	refused                the number of placements that a cluster would refuse
//	refusals               the first of these
//
// If --timeout stops a side, the key cutOff of this side explains that in a sentence. All numbers of this side and all ratios are then
// null. costRatio is also null if the sides place different numbers of pods, or if only Karpenter's plan costs nothing.
//
// # Fleets
//
// The scenario consolidate-N is a fleet of N nodes. Two fifths of its capacity are used. In consolidate-mixed-N, the pods have constraints.
// The fleet consolidate-m5-both-3z-1-60n has 60 nodes of the ordinary cluster m5-both-3z-1. The name consolidate-ordinary-60 selects eight
// such fleets: all combinations of one or three instance families, 3 or 6 zones, and rules or no rules between pods. Three planners plan
// for the fleet in rounds: disruption.Global, disruption.Reference and Karpenter's consolidation methods. All commands of a round are
// executed at once. The rounds end when the planner finds no commands any more. Thresholds, cool-downs, waiting times and disruption
// budgets don't limit the planners. With --spot-to-spot=false, none of the three may replace spot nodes by spot nodes. This is Karpenter's
// default. Only planning is measured. drawknife compiles the objects again in each round. Karpenter starts from the cluster state that it
// keeps up to date. The program executes the printed commands again, and checks each of them: every pod must fit on its node, and each
// launched node is priced at the cheapest available offering that the plan allows.
//
// The output has one JSON document per fleet, with these keys:
//
//	scenario, about, seed, nodes, pods, instanceTypes, spotToSpot
//	hourlyCost               the cost of the fleet at the start, USD
//	lowerBound               a lower bound on the cost of any nodes that hold the pods, USD per hour
//	ours, reference, theirs  the results of the three planners, see below
//	speedup                  CPU seconds, theirs divided by ours
//	costRatio                final cost, ours divided by theirs
//	referenceRatio           the cost of ours after at most three rounds, divided by the final cost of reference
//	karpenter                the version of Karpenter
//
// The result of a planner has these keys:
//
//	wallSeconds, cpuSeconds, allocMB, mallocs, peakMB
//	rounds                   the number of searches that found commands
//	commands                 the number of commands
//	removed, launched        the numbers of nodes
//	timeouts                 the number of searches that the planner stopped at its time limit
//	evictions                one for each move of a pod
//	nodes, hourlyCost        at the end
//	evictionsPerDollar       evictions divided by the USD per hour saved
//	costByRound              the hourly cost after each round
//	refused, refusals        the number of placements that a cluster would refuse, and the first of these
//
// If --timeout stops a planner, its key cutOff explains that in a sentence. Its other keys then show the state after its last command, so
// cpuSeconds is less than the time that it used. Ratios that use the final cost of this planner are null, and speedupAtLeast replaces
// speedup.
//
// The exit status is 0 if the comparison succeeded and 1 if it failed. It is 2 in these cases: a placement of drawknife is refused, its plan
// or fleet is more expensive than Karpenter's, or the final fleet of Reference is cheaper than that of Global.
package main
