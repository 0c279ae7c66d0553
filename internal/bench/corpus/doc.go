// The program corpus plans a set of scenarios, the corpus, with drawknife. It prints the cost of each plan next to a proven lower bound,
// the cost of simple packers, Karpenter's cost, and the best packing known. Run it in the folder internal/bench:
//
//	go run ./corpus                                     # the ordinary clusters of seeds 1 and 2
//	go run ./corpus --seeds 1-20 --families m5,m5+c5    # other ordinary clusters
//	go run ./corpus --set all -o json                   # everything that is recorded
//	go run ./corpus --scenarios fa-1000,gap-6zones      # by name; see go doc ./scenario Named
//	go run ./corpus --karpenter run --record            # also plan with Karpenter, and store the results
//	go run ./corpus --set all --record --table ../../docs/benchmarks.md   # plan all, store the results, write the tables there
//	go run ./corpus --set all --runs 0 --table ../../docs/benchmarks.md   # write the tables of the stored results, without planning
//
// Comparing CPU times with Karpenter for all ordinary clusters takes minutes on an idle computer. If the results go to a file, the run can
// be stopped at any time, and continued later. Runs with other seeds can write to other files. Join such files with cat. For example:
//
//	go run ./corpus --seeds 1-20 --runs 5 --check=false --karpenter run --karpenter-runs 3 --measured all.jsonl
//
// This command prints the ratio for each cluster, and at the end the geometric mean, the lowest ratio, and all clusters with a ratio below
// 10.
//
// Scenarios are planned one after the other, on one core or as many as --procs says. CPU time is the time of the process for compiling
// and solving, including garbage collection. Of several --runs, the median is shown.
//
// The packers (package packers) consider only requests and capacity, so they are shown only for scenarios without rules. Karpenter's
// figures and the best packing known come from recorded.json. With --karpenter run, the program of internal/bench/karpenter plans again
// instead. --record stores the results of a run in recorded.json: Karpenter's and drawknife's figures, and packings and bounds that are
// better than the recorded ones.
//
// # Results as JSON
//
// The output is one document with a list. Costs are in USD per hour. Unknown values are left out. Each entry has these keys:
//
//	scenario, pods, types
//	cost                   the cost of drawknife's plan
//	bound, overBound       the lower bound of the plan itself, and cost divided by this bound
//	provenBound            the highest bound known
//	cpuSeconds, nodes, unschedulable
//	refused, refusals      the number of placements that a cluster would refuse, and the first of these
//	greedyCost, firstFitCost, overGreedy
//	karpenterCost, karpenterCPUSeconds, karpenterVersion, overKarpenter, speedup
//	bestCost, bestBy       the cost of the best packing known, and who found it
//	overBest               cost divided by bestCost
//
// The exit status is 0 if every plan costs at most as much as Karpenter's and at most 1.02 times the best packing known. It is 2 if a
// plan costs more or a placement is refused. It is 1 if the program failed.
package main
