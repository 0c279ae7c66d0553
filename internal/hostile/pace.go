//go:build linux || darwin

package hostile

import (
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Computers differ, and one that others use, too, can be several times slower than it was an hour ago. The bound of processor time is
// therefore multiplied by how slow the computer is now: by the processor time of a fixed piece of work, over the time that it usually takes.
const (
	usualPace = 350 * time.Millisecond
	// slowest bounds the factor, so that a command that never ends is noticed on every computer.
	slowest = 5
	// The work: to fill a map with so many texts, and to write to so much memory for the first time. This is what parsers do.
	paceTexts = 500_000
	paceBytes = 256 << 20
)

// bound returns how much processor time a command may take on this computer now.
func bound(t *testing.T) time.Duration {
	t.Helper()
	before := processorTime(t)
	texts := map[string]string{}
	for i := range paceTexts {
		key := strconv.Itoa(i)
		texts[key] = key + key
	}
	memory, err := syscall.Mmap(-1, 0, paceBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(memory); i += 4 << 10 {
		memory[i] = 1
	}
	if err := syscall.Munmap(memory); err != nil {
		t.Fatal(err)
	}
	took := processorTime(t) - before
	allowed := allowedFor(took)
	t.Logf("the reference work takes %s of processor time: a command may take %s", took, allowed)
	return allowed
}

// allowedFor returns the bound of a computer on which the reference work takes that long.
func allowedFor(took time.Duration) time.Duration {
	slower := min(max(took.Seconds()/usualPace.Seconds(), 1), slowest)
	return time.Duration(slower * float64(maxProcessor))
}

// processorTime returns the processor time that this process has taken.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
