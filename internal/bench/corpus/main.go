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
	"runtime"
	"strings"
	"syscall"

	"github.com/drawknife/drawknife/internal/bench/scenario"
)

// Exit statuses. The package comment explains these exit statuses.
const (
	exitGood  = 0
	exitError = 1
	exitWorse = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	worse, err := runAll(ctx, args, stdout, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitGood
	case err != nil:
		fmt.Fprintf(stderr, "corpus: %s\n", err)
		return exitError
	case worse:
		return exitWorse
	}
	return exitGood
}

// runAll plans the selected scenarios, and reports whether any plan is not good enough.
func runAll(ctx context.Context, args []string, stdout, stderr io.Writer) (worse bool, err error) {
	known, err := readRecords()
	if err != nil {
		return false, err
	}
	o, err := parseOptions(args, known, stderr)
	if err != nil {
		return false, err
	}
	folder, err := os.MkdirTemp("", "corpus-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	done, err := openMeasured(o.measured, known)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, done.close()) }()
	known.settle()
	p := &planner{runs: o.runs, check: o.check, records: known}
	if o.karpenter != "recorded" {
		if p.theirs, err = newKarpenter(ctx, o.karpenter, folder, stderr); err != nil {
			return false, err
		}
		p.theirs.runs = o.karpenterRuns
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(o.procs))
	var rows []*row
	var leftOut []string
	text := newTable(stdout)
	for _, name := range o.names {
		r, err := p.measure(ctx, name, done)
		var missing *scenario.NoDataError
		if errors.As(err, &missing) {
			fmt.Fprintf(stderr, "corpus: left out: %s\n", missing)
			leftOut = append(leftOut, name)
			continue
		}
		if err != nil {
			return false, err
		}
		rows = append(rows, r)
		if o.output == "text" {
			if err := text.add(r); err != nil {
				return false, err
			}
		}
		worse = worse || r.worse() != ""
	}
	if o.output == "json" {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		if err := enc.Encode(rows); err != nil {
			return false, err
		}
	} else {
		text.summary(rows)
	}
	if o.record {
		known.settle()
		if err := known.write(); err != nil {
			return false, err
		}
	}
	if o.table != "" {
		if len(leftOut) > 0 {
			return false, fmt.Errorf("--table %s: the tables would lose the rows of %s: set $%s, or select scenarios that need no data", o.table, strings.Join(leftOut, ", "), scenario.DataVariable)
		}
		if err := writeTables(o.table, rows, known, args); err != nil {
			return false, err
		}
	}
	return worse, nil
}
