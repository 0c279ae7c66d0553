package provisioning_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/surface"
	"github.com/drawknife/drawknife/provisioning"
)

// No function panics on nil or zero values.
func TestSurface(t *testing.T) {
	surface.Survive(t, provisioning.Decide, provisioning.ResolvePools, provisioning.TerminateClaim, provisioning.TerminateNode,
		provisioning.PoolStatus, (&provisioning.Lifecycle{}).Next, provisioning.ParseSurge)
}
