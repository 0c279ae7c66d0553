// Package replay executes a disruption planner's commands on a saved fleet. Package judge checks the result of each command: which nodes
// are removed, which are bought, and where the pods are bound.
//
//	fleet := replay.New(snapshot)
//	for _, step := range round.Steps {
//		refusals = append(refusals, fleet.Check(step)...)
//		fleet.Apply(step)
//	}
//	fmt.Println(fleet.HourlyCost(), fleet.Evictions)
//
// Both planners of a comparison describe their commands with the types of this package and of judge, which do not depend on the planners.
package replay
