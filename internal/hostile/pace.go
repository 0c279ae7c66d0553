//go:build linux || darwin

package hostile

import (
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Computers differ, and a computer that also runs other programs can be several times slower than an hour ago. Therefore the limit of
// processor time is multiplied by a factor for the present speed of the computer. The factor is the processor time that a fixed piece of
// work takes now, divided by the time that it usually takes (usualPace).
const (
	usualPace = 350 * time.Millisecond
	// slowest is the maximum of the factor, so that a command that never ends is noticed on every computer.
	slowest = 5
	// The fixed piece of work fills a map with this number of texts, and writes to this amount of new memory. Parsers do similar work.
	paceTexts = 500_000
	paceBytes = 256 << 20
)

// bound returns the processor time that a command may use on this computer now.
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

// allowedFor returns the limit of processor time for a computer on which the fixed piece of work takes the given time.
func allowedFor(took time.Duration) time.Duration {
	slower := min(max(took.Seconds()/usualPace.Seconds(), 1), slowest)
	return time.Duration(slower * float64(maxProcessor))
}

// processorTime returns the processor time that this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
