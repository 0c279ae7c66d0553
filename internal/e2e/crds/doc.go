// Package crds checks the CustomResourceDefinitions of api/crds with the API server's own code. An API server must accept them, including
// the estimated cost of their rules. Each of their rules and constraints must refuse the same objects as the validation in Go. If a real
// API server is built, it must give the same results as this package. It is a separate module, so that no other module needs the API
// server's libraries.
//
//	go -C internal/e2e/crds test ./...
package crds
