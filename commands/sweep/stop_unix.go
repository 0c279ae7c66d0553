//go:build !windows

package sweep

import "os"

// stopSignal asks the process of a shard to end.
func stopSignal() os.Signal { return os.Interrupt }
