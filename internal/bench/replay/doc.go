// Package replay carries out what a disruption planner decided on a saved fleet, command by command, and has package judge
// look at each: which nodes go, which are bought, and where the pods are bound.
//
//	fleet := replay.New(snapshot)
//	for _, step := range round.Steps {
//		refusals = append(refusals, fleet.Check(step)...)
//		fleet.Apply(step)
//	}
//	fmt.Println(fleet.HourlyCost(), fleet.Evictions)
//
// Both sides of a comparison tell their commands in the words of this package and of judge, which need none of their types.
package replay
