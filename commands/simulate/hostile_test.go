//go:build linux || darwin

package simulate

import (
	"context"
	"flag"
	"os"
	"testing"

	"github.com/drawknife/drawknife/commands"
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
		"testdata/deployment.yaml --usage FILE",
		"testdata/deployment.yaml --usage cpu=FILE",
		"testdata/deployment.yaml --catalog testdata/ec2.json --prices FILE",
	)
}

// The same holds for policies, and for the other set that a policy judges.
func TestHostilePolicy(t *testing.T) {
	hostile.Run(t, "TestHostileDiff", os.Getenv("DRAWKNIFE_HOSTILE") == "all",
		"testdata/gate/main.yaml testdata/gate/pr.yaml --policy FILE", "testdata/gate/main.yaml FILE --policy testdata/gate/budget.yaml -o sarif",
		"FILE testdata/gate/pr.yaml --policy testdata/gate/budget.yaml -o junit")
}

// TestHostileDiff is the process that runs diff.
func TestHostileDiff(*testing.T) {
	args, ok := hostile.Child()
	if !ok {
		return
	}
	for _, c := range Commands(Options{}) {
		if c.Name != "diff" {
			continue
		}
		run := c.Begin()
		run.Flags.Init("diff", flag.ContinueOnError)
		rest, err := parseInterleaved(run.Flags, args)
		if err != nil {
			os.Exit(exitInput)
		}
		os.Exit(run.Do(context.Background(), rest, commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
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
