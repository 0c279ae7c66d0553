package plane

import (
	"context"
	"io"

	"github.com/drawknife/drawknife/internal/e2e/binaries"
)

// BinaryVariable is an environment variable with the path of a control plane binary, which is used in place of the cached one.
const BinaryVariable = "DRAWKNIFE_CONTROLPLANE"

// ErrNotBuilt means that the control plane's binary is not built yet. The error's text says how to build it.
var ErrNotBuilt = binaries.ErrNotBuilt

// Binary returns the path of the control plane's binary; see binaries.Program.Find.
func Binary(ctx context.Context) (string, error) { return binaries.ControlPlane().Find(ctx) }

// Build is like Binary, but builds the binary if it is missing. If Go's build cache has none of its packages, this takes 12 to 14 minutes
// of processor time and 3 GB of memory. progress receives the output of the go command.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	return binaries.ControlPlane().Build(ctx, progress)
}
