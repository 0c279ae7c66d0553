// Package dra evaluates the CEL selectors of Dynamic Resource Allocation, with the package that kube-scheduler does it with. It is a module
// of its own, so that who plans without devices needs none of what that package needs.
//
//	model, err := scheduling.Compile(snapshot, scheduling.WithDeviceMatcher(dra.New()))
//
// Stability: alpha.
package dra
