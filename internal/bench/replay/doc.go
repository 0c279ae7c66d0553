// Package replay executes what a disruption planner decided on a saved fleet, command by command, and lets package judge check each: which
// nodes are removed, which are bought, and where the pods are bound.
//
//	fleet := replay.New(snapshot)
//	for _, step := range round.Steps {
//		refusals = append(refusals, fleet.Check(step)...)
//		fleet.Apply(step)
//	}
//	fmt.Println(fleet.HourlyCost(), fleet.Evictions)
//
// Both sides of a comparison describe their commands with the types of this package and of judge, which do not depend on theirs.
package replay
