// The program corpus plans a corpus of scenarios with drawknife and prints what each plan costs, next to what is known of the
// scenario: a proven bound, simple packers, Karpenter's cost and the best packing known. From the folder internal/bench:
//
//	go run ./corpus                                     # the ordinary clusters of seeds 1 and 2
//	go run ./corpus --seeds 1-20 --families m5,m5+c5    # others
//	go run ./corpus --set all -o json                   # everything that is recorded
//	go run ./corpus --scenarios fa-1000,gap-6zones      # by name; see go doc ./scenario Named
//	go run ./corpus --karpenter run --record            # with Karpenter's plan, and keep what was found
//	go run ./corpus --set all --record --table ../../docs/benchmarks.md   # plan all, keep the figures, write the tables there
//	go run ./corpus --set all --runs 0 --table ../../docs/benchmarks.md   # the tables from what is recorded, without planning
//
// One scenario is planned after the other, with one core unless --procs says otherwise. CPU time is that of the process for
// compiling and solving, garbage collection included, the median of --runs.
//
// The packers (package packers) keep room and requests alone, so that they are shown for scenarios without rules. Karpenter's
// figures and the best packing known come from recorded.json unless --karpenter run plans again with the program of
// internal/bench/karpenter. --record writes what a run found into recorded.json: Karpenter's figures, a better packing, a
// higher bound, ours.
//
// # Results as JSON
//
// One document with a list: scenario, pods, types; cost, bound (that of the plan itself) and overBound (cost by bound);
// provenBound, the highest bound known; cpuSeconds; nodes, unschedulable, refused with refusals; greedyCost, firstFitCost,
// overGreedy; karpenterCost, karpenterCPUSeconds, karpenterVersion, overKarpenter, speedup; bestCost, bestBy, overBest. What
// is not known is left out. Costs are USD per hour.
//
// The exit status is 0 when every plan costs at most what Karpenter's costs and at most 1.02 times the best packing known, 2
// when one does not or is refused, and 1 when the program failed.
package main
