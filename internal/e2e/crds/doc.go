// Package crds judges the CustomResourceDefinitions of api/crds with the API server's own code: that it would take them,
// the estimated cost of their rules included, and that each of their rules and constraints refuses what the validation in Go refuses.
// A real API server, where one is built, must say the same. It is a module of its own so that nothing else needs the API server's
// libraries.
//
//	go -C internal/e2e/crds test ./...
package crds
