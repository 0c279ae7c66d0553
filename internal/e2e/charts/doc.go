// Package charts tests the Helm charts of the controller with the Helm library. It tests what the charts render with values of every API
// version, that the controller can read its settings from the result, and which values the charts refuse. It is a separate module, so that
// no other module needs Helm.
//
//	go -C internal/e2e/charts test ./...
package charts
