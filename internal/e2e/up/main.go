// Command up builds the control plane for tests if necessary, starts it, and runs until it is stopped.
//
//	go -C internal/e2e run ./up               prints "READY <kubeconfig>", ends with Ctrl-C or at the end of standard input with -stdin
//	go -C internal/e2e run ./up -build-only   prints the path of the binary
//	go -C internal/e2e run ./up -kueue        likewise, of Kueue's manager in place of the control plane
//	go -C internal/e2e run ./up -cached       likewise, of either, but fails when it would have to be built
//
// The control plane has no nodes. Run a controller with a fake cloud to get nodes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/drawknife/drawknife/internal/e2e/binaries"
	"github.com/drawknife/drawknife/internal/e2e/plane"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	dir := flag.String("dir", "", "folder for data, logs and kubeconfigs, which stays after the end; empty: a temporary folder")
	buildOnly := flag.Bool("build-only", false, "build the binary if it is not built yet, and print its path")
	kueue := flag.Bool("kueue", false, "build Kueue's manager if it is not built yet, and print the path of its binary")
	cached := flag.Bool("cached", false, "print the binary's path, if it is built")
	stdin := flag.Bool("stdin", false, "stop at the end of standard input")
	verbosity := flag.Int("v", 1, "verbosity of the components' logs")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unknown argument %q; go run ./up -help says what there is", flag.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	program := binaries.ControlPlane()
	if *kueue {
		program = binaries.Kueue()
	}
	binary, err := program.Find(ctx)
	if !*cached && errors.Is(err, binaries.ErrNotBuilt) {
		binary, err = program.Build(ctx, os.Stderr)
	}
	if err != nil {
		return err
	}
	if *buildOnly || *kueue || *cached {
		fmt.Println(binary)
		return nil
	}
	if *stdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	began := time.Now()
	c, err := plane.Start(ctx, plane.Options{Binary: binary, Dir: *dir, Verbosity: *verbosity})
	if err != nil {
		if ctx.Err() != nil {
			return nil // stopped while starting
		}
		return err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	fmt.Printf("READY %s after %s\n", c.Kubeconfig(), time.Since(began).Round(time.Millisecond))
	select {
	case <-ctx.Done():
		return nil
	case err := <-c.Died():
		return err
	}
}
