package plane

import (
	"context"
	"io"

	"github.com/drawknife/drawknife/internal/e2e/binaries"
)

// BinaryVariable is the environment variable that names the binary of the control plane to use in place of the cached one.
const BinaryVariable = "DRAWKNIFE_CONTROLPLANE"

// ErrNotBuilt means that the control plane's binary is not built yet; the error says how to build it.
var ErrNotBuilt = binaries.ErrNotBuilt

// Binary returns the path of the control plane's binary; see binaries.Program.Find.
func Binary(ctx context.Context) (string, error) { return binaries.ControlPlane().Find(ctx) }

// Build is like Binary, but builds the binary if it is missing. If Go's build cache has none of its packages, this takes 12 to 14 minutes
// of processor time and 3 GB of memory. The output of the go command goes to progress.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	return binaries.ControlPlane().Build(ctx, progress)
}
