//go:build linux || darwin

package convert

import (
	"os"
	"testing"

	"github.com/drawknife/drawknife/internal/hostile"
)

// No input makes the command panic, run for ever, fill the memory or steer the terminal, whichever flag names it.
func TestHostileInput(t *testing.T) {
	hostile.Run(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all",
		"-f FILE",
		"--strict --workloads -f FILE",
		"--workloads --skip-unreadable --to v1beta1 -o json -f FILE",
		"-f testdata/provisioner.yaml --settings FILE",
	)
}

// Nor does any name of a file.
func TestHostileNames(t *testing.T) {
	hostile.RunNames(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all", "-f FOLDER", "-f FOLDER --skip-unreadable --allow-empty", "-f FILE", "-f FILE --skip-unreadable",
		"-f testdata/provisioner.yaml --settings FILE", "-f testdata/provisioner.yaml --output-dir FILE/x", "-f testdata/provisioner.yaml --node-role FILE")
}

// TestHostileChild is the process that reads one of them.
func TestHostileChild(*testing.T) {
	if args, ok := hostile.Child(); ok {
		os.Exit(run(args, os.Stdin, os.Stdout, os.Stderr))
	}
}
