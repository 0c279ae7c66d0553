// Package packers has simple algorithms that pack pods onto new nodes, for comparison with better algorithms. They are first fit decreasing
// and the norm-based vector greedy. For pods without rules, no planner should make a plan that costs more than the packings of these
// algorithms.
//
//	problem, err := packers.Of(snapshot)
//	greedy := problem.VectorGreedy()
//	fmt.Println(greedy.Cost, greedy.Nodes)
//
// Both algorithms consider only requests and the room on nodes. They ignore rules between pods, so for pods with rules the result is not a
// valid plan.
package packers
