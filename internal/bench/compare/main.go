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
	"time"
)

// Exit statuses. The package comment explains these exit statuses.
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
	all, err := compareAll(ctx, o, stdout, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "compare: %s\n", err)
		return exitError
	}
	status := exitMade
	for _, m := range all {
		if why := m.worse(); why != "" {
			fmt.Fprintf(stderr, "compare: %s: %s\n", m.name(), why)
			status = exitWorse
		}
	}
	return status
}

// made contains the result of a comparison or of a consolidation.
type made interface {
	name() string
	text() string
	worse() string
}

// compareAll makes and prints the comparisons one after the other, and then writes the table if o.table is set.
func compareAll(ctx context.Context, o *options, stdout, stderr io.Writer) ([]made, error) {
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
	var all []made
	var plans []*comparison
	var fleets []*consolidation
	for _, w := range works {
		s, err := w.make()
		if err != nil {
			return nil, err
		}
		var m made
		if w.fleet {
			c, err := r.consolidate(ctx, s, o.spotToSpot)
			if err != nil {
				return nil, err
			}
			m, fleets = c, append(fleets, c)
		} else {
			c, err := r.compare(ctx, s)
			if err != nil {
				return nil, err
			}
			m, plans = c, append(plans, c)
		}
		all = append(all, m)
		if err := show(stdout, m, o.output); err != nil {
			return nil, err
		}
	}
	switch {
	case o.table == "":
		return all, nil
	case len(fleets) > 0:
		return all, writeTable(o.table, fleetMarkers, fleetTable(fleets, o.given))
	}
	return all, writeTable(o.table, planMarkers, table(plans, o.given, time.Now()))
}

func show(w io.Writer, m made, output string) error {
	if output == "json" {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	}
	_, err := io.WriteString(w, m.text())
	return err
}

func (c *comparison) name() string    { return c.Scenario }
func (c *consolidation) name() string { return c.Scenario }
