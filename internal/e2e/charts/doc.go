// Package charts tests the Helm charts of the controller with the Helm library. It tests what they render with values of every API version,
// that the controller can read its settings from this, and which values the charts refuse. It is a separate module, so that nothing else
// needs Helm.
//
//	go -C internal/e2e/charts test ./...
package charts
