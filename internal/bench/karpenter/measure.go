package main

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// usage is the CPU time and memory that a piece of work used. This file measures both sides of a comparison: its copies in both modules are
// equal, byte for byte.
type usage struct {
	WallSeconds float64 `json:"wallSeconds"`
	// CPUSeconds is the user and system time of the whole process, including the garbage collector.
	CPUSeconds float64 `json:"cpuSeconds"`
	// AllocMB is the total amount allocated on the heap, in 10^6 bytes.
	AllocMB float64 `json:"allocMB"`
	// Mallocs is the number of objects allocated on the heap.
	Mallocs uint64 `json:"mallocs"`
	// PeakMB is the largest resident size of the process during the work, in 10^6 bytes, including the input.
	PeakMB float64 `json:"peakMB"`
}

// measure runs work, starting with a clean heap, and returns its usage.
func measure(work func() error) (usage, error) {
	debug.FreeOSMemory() // this includes a garbage collection
	resetPeak()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	err := work()
	wall, spent := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	return usage{
		WallSeconds: wall.Seconds(), CPUSeconds: spent.Seconds(),
		AllocMB: float64(after.TotalAlloc-before.TotalAlloc) / 1e6, Mallocs: after.Mallocs - before.Mallocs,
		PeakMB: float64(peakBytes()) / 1e6,
	}, err
}

// meter adds up the usage of several pieces of work. Work between these pieces is not counted.
type meter struct{ usage }

// newMeter returns an empty meter, after it has cleaned the heap.
func newMeter() *meter {
	debug.FreeOSMemory() // this includes a garbage collection
	resetPeak()
	return &meter{}
}

// add runs a piece of work, and adds its usage to the meter. Garbage collection after the work is not counted, even if it collects garbage
// of this work. Garbage collection during the work is counted, even if it collects garbage of earlier work.
func (m *meter) add(work func() error) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := cpuTime(), time.Now()
	err := work()
	wall, spent := time.Since(start), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	m.WallSeconds += wall.Seconds()
	m.CPUSeconds += spent.Seconds()
	m.AllocMB += float64(after.TotalAlloc-before.TotalAlloc) / 1e6
	m.Mallocs += after.Mallocs - before.Mallocs
	m.PeakMB = float64(peakBytes()) / 1e6
	return err
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// resetPeak resets the peak of resident memory on Linux (proc(5), clear_refs). On other systems the peak remains that of the whole process.
func resetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

func peakBytes() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range bytes.Lines(status) {
		if kib, found := bytes.CutPrefix(line, []byte("VmHWM:")); found {
			n, _ := strconv.ParseInt(string(bytes.TrimSuffix(bytes.TrimSpace(kib), []byte(" kB"))), 10, 64)
			return n << 10
		}
	}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return r.Maxrss
	}
	return r.Maxrss << 10
}
