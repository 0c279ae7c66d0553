// Package charts tests the Helm charts of the controller with the Helm library: what they render with values of every
// generation, that the controller reads its settings out of what is rendered, and which values they refuse. It is a module
// of its own so that nothing else needs Helm.
//
//	go -C internal/e2e/charts test ./...
package charts
