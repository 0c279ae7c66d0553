//go:build linux || darwin

package simulate

import (
	"context"
	"os"
	"testing"

	"github.com/drawknife/drawknife/internal/hostile"
)

// No input makes the command panic, run for ever, fill the memory or steer the terminal, whichever flag names it.
func TestHostileInput(t *testing.T) {
	hostile.Run(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all",
		"--template Worker.example.com=spec.template:spec.a*spec.a*spec.a*spec.a --template Worker.example.com=spec.groups[].template:size*size*size*size FILE",
		"--strict -o json testdata/deployment.yaml --diff FILE",
		// How long a replay takes is for the trace to say: years take minutes.
		"--replay FILE --replay-for 24h",
		"--snapshot FILE",
		"testdata/deployment.yaml --cost-model FILE",
		"testdata/deployment.yaml --catalog FILE",
		"testdata/deployment.yaml --catalog testdata/ec2.json --prices FILE",
	)
}

// Nor does any name of a file.
func TestHostileNames(t *testing.T) {
	hostile.RunNames(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all", "FOLDER", "FILE", "--diff FILE", "--replay FILE", "--snapshot FILE", "--cost-model FILE", "--catalog FILE",
		"--catalog testdata/ec2.json --prices FILE", "testdata/deployment.yaml --save-snapshot FILE/x", "testdata/deployment.yaml --certificate FILE/x",
		"--replay testdata/trace.csv --replay-for 1h --html FILE/x", "--template FILE", "--zones FILE", "--replace-nodes FILE")
}

// TestHostileChild is the process that reads one of them.
func TestHostileChild(*testing.T) {
	if args, ok := hostile.Child(); ok {
		os.Exit(Run(context.Background(), args, os.Stdin, os.Stdout, os.Stderr, Options{}))
	}
}

// Who allows 300,000 pods gets a plan for them within the same bounds.
func TestHostileReplicas(t *testing.T) {
	if os.Getenv("DRAWKNIFE_HOSTILE") != "all" {
		t.Skip("a large input: DRAWKNIFE_HOSTILE=all")
	}
	hostile.RunOne(t, "replicas", "TestHostileChild", "--max-replicas 1000000 FILE")
}
