// Package packers has simple packers of pods into new nodes, to compare better ones with: first fit decreasing, and the norm-based vector
// greedy. For pods without rules, no planner should make a plan that costs more.
//
//	problem, err := packers.Of(snapshot)
//	greedy := problem.VectorGreedy()
//	fmt.Println(greedy.Cost, greedy.Nodes)
//
// Both consider only room and requests. They ignore rules between pods, so for pods with rules the result is not a valid plan.
package packers
