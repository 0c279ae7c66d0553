//go:build linux || darwin

package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/drawknife/drawknife/internal/hostile"
)

// nowhere is a cluster that can't be reached: the settings are read first.
const nowhere = "--kubeconfig testdata/none --provider fake --allow-simulated-nodes --cluster-name demo"

// No settings file makes the controller panic, run for ever, fill the memory or steer the terminal that shows its log.
func TestHostileInput(t *testing.T) {
	hostile.Run(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all",
		nowhere+" --settings-file FILE",
		nowhere+" --log-encoding console --log-level debug --settings-file FILE")
}

// Nor does any name of a file.
func TestHostileNames(t *testing.T) {
	hostile.RunNames(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all", nowhere+" --settings-file FILE", nowhere+" --log-output-paths FILE/x", "--kubeconfig FILE --provider fake --allow-simulated-nodes --cluster-name demo", "FILE")
}

// TestHostileChild is the process that reads one of them.
func TestHostileChild(*testing.T) {
	if args, ok := hostile.Child(); ok {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		code := run(ctx, args, os.Stdout, os.Stderr)
		cancel()
		os.Exit(code)
	}
}
