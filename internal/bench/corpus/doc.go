// The program corpus plans a set of scenarios, the corpus, with drawknife. It prints the cost of each plan next to a proven lower bound,
// the cost of simple packers, Karpenter's cost, and the best packing known. Run it in the folder internal/bench:
//
//	go run ./corpus                                     # the ordinary clusters of seeds 1 and 2
//	go run ./corpus --seeds 1-20 --families m5,m5+c5    # others
//	go run ./corpus --set all -o json                   # everything that is recorded
//	go run ./corpus --scenarios fa-1000,gap-6zones      # by name; see go doc ./scenario Named
//	go run ./corpus --karpenter run --record            # with Karpenter's plan, and keep what was found
//	go run ./corpus --set all --record --table ../../docs/benchmarks.md   # plan all, keep the figures, write the tables there
//	go run ./corpus --set all --runs 0 --table ../../docs/benchmarks.md   # the tables from what is recorded, without planning
//
// A comparison of CPU times with Karpenter's for all ordinary clusters takes minutes on an idle computer. If the results go to a file, the
// run can be stopped at any time, and continued later. Runs with other seeds can write to other files. Join the files with cat:
//
//	go run ./corpus --seeds 1-20 --runs 5 --check=false --karpenter run --karpenter-runs 3 --measured all.jsonl
//
// It prints the ratio for each cluster, and at the end the mean ratio, the lowest ratio, and all clusters with a ratio below 10.
//
// Scenarios are planned one after the other, on one core or on the number of cores that --procs gives. CPU time is the time of the process
// for compiling and solving, including garbage collection. With several --runs, the median is shown.
//
// The packers (package packers) consider only requests and capacity, so they are shown only for scenarios without rules.
// Karpenter's figures and the best packing known come from recorded.json, unless --karpenter run plans again with the program of
// internal/bench/karpenter. --record stores the results of a run in recorded.json: Karpenter's figures, drawknife's figures,
// cheaper packings and higher bounds.
//
// # Results as JSON
//
// The output is one document with a list. Each entry has: scenario, pods, types; cost, bound (of the plan itself) and overBound (cost
// divided by bound); provenBound, the highest bound known; cpuSeconds; nodes, unschedulable, refused with refusals; greedyCost,
// firstFitCost, overGreedy; karpenterCost, karpenterCPUSeconds, karpenterVersion, overKarpenter, speedup; bestCost, bestBy, overBest.
// Unknown values are left out. Costs are in USD per hour.
//
// The exit status is 0 if every plan costs at most as much as Karpenter's and at most 1.02 times the best packing known; 2 if a
// plan costs more or a placement is refused; and 1 if the program failed.
package main
