package plane

import (
	"context"
	"io"

	"github.com/drawknife/drawknife/internal/e2e/binaries"
)

// BinaryVariable names the control plane's binary to use instead of the cached one.
const BinaryVariable = "DRAWKNIFE_CONTROLPLANE"

// ErrNotBuilt says that the control plane's binary is not there yet; the error says how to build it.
var ErrNotBuilt = binaries.ErrNotBuilt

// Binary returns the path of the control plane's binary; see binaries.Program.Find.
func Binary(ctx context.Context) (string, error) { return binaries.ControlPlane().Find(ctx) }

// Build is like Binary, but builds the binary if there is none: 12 to 14 minutes of processor time and 3 GB of memory when
// Go's build cache holds nothing of it. What the go command prints goes to progress.
func Build(ctx context.Context, progress io.Writer) (string, error) {
	return binaries.ControlPlane().Build(ctx, progress)
}
