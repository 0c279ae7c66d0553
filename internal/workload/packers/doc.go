// Package packers has simple packers of pods into new nodes, as judges of better ones: first fit decreasing, and the
// norm-based vector greedy. A planner whose plan costs more than theirs, for pods without rules, has no excuse.
//
//	problem, err := packers.Of(snapshot)
//	greedy := problem.VectorGreedy()
//	fmt.Println(greedy.Cost, greedy.Nodes)
//
// Both keep rooms and requests, and nothing else: rules between pods are left out, so that for pods that have some the
// result is no plan.
package packers
