package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "karpenter: %s\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	input, spotToSpot, consolidating := stdin, false, false
	if len(args) > 1 && args[0] == "consolidate" {
		var err error
		if spotToSpot, err = strconv.ParseBool(args[1]); err != nil {
			return fmt.Errorf("consolidate %s: whether spot may be replaced by spot is true or false", args[1])
		}
		consolidating, args = true, args[2:]
	}
	switch {
	case len(args) == 1 && args[0] == "version":
		_, err := fmt.Fprintln(stdout, version())
		return err
	case len(args) == 1:
		file, err := os.Open(args[0])
		if err != nil {
			return err
		}
		defer file.Close() // the file was only read, so closing can't lose anything
		input = file
	case len(args) > 1:
		return fmt.Errorf("%d arguments: give one file, or none for standard input", len(args))
	}
	w, err := readWorkload(bufio.NewReader(input))
	if err != nil {
		return err
	}
	begins := func() { fmt.Fprintln(stderr, "planning") }
	if consolidating {
		return consolidate(ctx, w, spotToSpot, begins, stdout)
	}
	result, err := plan(ctx, w, begins)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(stdout)
	if err := json.NewEncoder(b).Encode(result); err != nil {
		return err
	}
	return b.Flush()
}

// version returns the library's version, with the version of Go with which it was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, m := range info.Deps {
			if m.Path == "sigs.k8s.io/karpenter" {
				return m.Version + " " + runtime.Version()
			}
		}
	}
	return "unknown " + runtime.Version()
}
