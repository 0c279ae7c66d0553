package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses; the package comment says what they mean.
const (
	exitMade  = 0
	exitError = 1
	exitWorse = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[0] == planCommand {
		if err := planOurs(ctx, args[1], stdout, stderr); err != nil {
			fmt.Fprintln(stderr, err)
			return exitError
		}
		return exitMade
	}
	if len(args) > 0 && args[0] == consolidateCommand {
		if err := consolidateOurs(ctx, args[1:], stdout, stderr); err != nil {
			fmt.Fprintln(stderr, err)
			return exitError
		}
		return exitMade
	}
	o, err := parseOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitMade
	}
	if err != nil {
		fmt.Fprintf(stderr, "compare: %s\n", err)
		return exitError
	}
	made, err := compareAll(ctx, o, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "compare: %s\n", err)
		return exitError
	}
	status := exitMade
	for _, c := range made {
		if why := c.worse(); why != "" {
			fmt.Fprintf(stderr, "compare: %s: %s\n", c.Scenario, why)
			status = exitWorse
		}
	}
	return status
}

// compareAll makes and prints one comparison after the other, and writes the table.
func compareAll(ctx context.Context, o *options, stdout, stderr io.Writer) ([]*comparison, error) {
	works, err := o.works()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	r := &runner{oursRuns: o.runs, theirsRuns: o.runs, timeout: o.timeout, folder: folder, progress: stderr}
	if r.ours, err = oursSide(); err != nil {
		return nil, err
	}
	if r.theirs, err = theirsSide(ctx, o.karpenter, folder, stderr); err != nil {
		return nil, err
	}
	var made []*comparison
	for _, w := range works {
		s, err := w.make()
		if err != nil {
			return nil, err
		}
		c, err := r.compare(ctx, s)
		if err != nil {
			return nil, err
		}
		made = append(made, c)
		if err := c.print(stdout, o.output); err != nil {
			return nil, err
		}
	}
	if o.table != "" {
		return made, writeTable(o.table, made, o.given)
	}
	return made, nil
}

func (c *comparison) print(w io.Writer, output string) error {
	if output == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(c)
	}
	_, err := io.WriteString(w, c.text())
	return err
}
