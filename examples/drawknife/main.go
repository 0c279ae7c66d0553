// Command drawknife answers questions about the nodes of a Kubernetes cluster: which nodes pending pods need and what they cost, which
// nodes could be removed, and what a change of NodePools would do. It reads manifests, or a running cluster with kubectl, and changes
// nothing.
//
//	go -C examples/drawknife build -o ~/bin/drawknife .
//	drawknife plan deploy/ nodepool.yaml
//	drawknife consolidate -A
//
// A copy of the program with the name kubectl-drawknife, in a folder of PATH, is a plugin of kubectl: kubectl drawknife plan -A. The
// commands are in the packages below commands; this module adds cobra's help, completion and flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/simulate"
	"github.com/drawknife/drawknife/scheduling/dra"
)

func main() {
	streams := commands.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	ctx, stop := interruptible(context.Background())
	status := run(ctx, os.Args[1:], programName(os.Args[0]), streams, simulate.Options{DeviceMatcher: dra.New()})
	stop()
	os.Exit(status)
}

// interruptible returns a context that ends on the first interrupt. The second interrupt ends the process.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
			cancel(simulate.ErrInterrupted)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// run runs one command line, and returns the exit status.
func run(ctx context.Context, args []string, program string, streams commands.Streams, options simulate.Options) int {
	root := newRoot(program, streams, options)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var ended *statusError
	switch {
	case errors.As(err, &ended):
		return ended.status
	case err != nil:
		fmt.Fprintf(streams.Err, "%s: %s\nRun %s --help for its commands.\n", program, err, program)
		return usageStatus
	}
	return 0
}
