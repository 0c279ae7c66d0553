// Package dra evaluates the CEL selectors of Dynamic Resource Allocation, with the same package as kube-scheduler. It is a separate module,
// so that planners without devices don't need the dependencies of that package.
//
//	model, err := scheduling.Compile(snapshot, scheduling.WithDeviceMatcher(dra.New()))
//
// Stability: alpha.
package dra
