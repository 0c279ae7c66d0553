//go:build unix

package scheduling_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is what the process has used of processors, garbage collection included: unlike time it does not grow with what
// else the node does.
func cpuTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
