//go:build linux || darwin

package launchtemplate

import (
	"os"
	"testing"

	"github.com/drawknife/drawknife/internal/hostile"
)

// No input makes the command panic, run for ever, fill the memory or steer the terminal.
func TestHostileInput(t *testing.T) {
	hostile.Run(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all", "FILE")
}

// Nor does any name of a file.
func TestHostileNames(t *testing.T) {
	hostile.RunNames(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all", "FILE", "--ami FILE ../../examples/launchtemplate/classes/al2023.yaml")
}

// TestHostileChild is the process that reads one of them.
func TestHostileChild(*testing.T) {
	if args, ok := hostile.Child(); ok {
		os.Exit(run(args, os.Stdin, os.Stdout, os.Stderr))
	}
}
