//go:build linux || darwin

package main

import (
	"context"
	"os"
	"testing"

	"github.com/drawknife/drawknife/internal/hostile"
)

// No input makes the command panic, run for ever, fill the memory or steer the terminal.
func TestHostileInput(t *testing.T) {
	hostile.Run(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all", "FILE")
}

// TestHostileChild is the process that reads one of them.
func TestHostileChild(*testing.T) {
	if args, ok := hostile.Child(); ok {
		os.Exit(run(context.Background(), args, os.Stdin, os.Stdout, os.Stderr))
	}
}

// Who allows 300,000 pods gets a plan for them within the same bounds.
func TestHostileReplicas(t *testing.T) {
	if os.Getenv("DRAWKNIFE_HOSTILE") != "all" {
		t.Skip("a large input: DRAWKNIFE_HOSTILE=all")
	}
	hostile.RunOne(t, "replicas", "TestHostileChild", "--max-replicas", "1000000", "FILE")
}
