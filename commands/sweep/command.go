package sweep

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/interrupt"
	"github.com/drawknife/drawknife/internal/printable"
)

// Exit statuses, part of the contract in --help.
const (
	exitDone       = 0
	exitInput      = 1
	exitUnanswered = 2
	exitCloud      = 4
	exitOutput     = 5
)

// maxShards is the largest number of shards of a sweep, which is that of the completions of an Indexed Job with a limit of failures per index.
const maxShards = 100_000

// Options are what a program gives the command.
type Options struct {
	// Commands are those that a grid may name. They must take --output=json.
	Commands []commands.Command
	// Program is the program, with its arguments, that runs "sweep shard" for sweep run. Nil means the running program without arguments.
	Program []string
}

// options are a command line.
type options struct {
	commands []commands.Command
	program  []string

	results, output   string
	shards, index     int
	parallel, retries int
	job               job
	arguments         []string
}

// New returns the command "sweep", which has the commands run, shard, reduce and manifest.
func New(own Options) commands.Command {
	return commands.Command{
		Name: "sweep", Summary: "Run a command on a grid of inputs, in shards, and reduce the answers to one report", Arguments: "COMMAND",
		Help: `sweep runs a command such as plan or replay on each combination of the values of several axes: clusters, NodePools, prices, months,
settings. GRID is a YAML file with the axes. The cells of the grid are divided into shards, which are processes on this computer
(run), or the pods of an Indexed Job on a Kubernetes cluster (manifest, shard). The result of each cell is a file. A sweep that was
stopped continues where it was: cells that have a result and whose inputs are the same do not run again.`,
		Examples: `drawknife sweep run grid.yaml
drawknife sweep run grid.yaml --shards 50 --parallel 4 -o csv
drawknife sweep manifest grid.yaml --shards 200 --image registry.example.com/drawknife:1 --claim sweep | kubectl apply -f -
drawknife sweep reduce grid.yaml -o markdown`,
		Commands: []commands.Command{runCommand(own), shardCommand(own), reduceCommand(own), manifestCommand(own)},
	}
}

func runCommand(own Options) commands.Command {
	return commands.Command{
		Name: "run", Summary: "Run all cells in processes on this computer, and print the report", Arguments: "GRID",
		Help: `run starts a process for each shard, --parallel of them at a time. A process that dies is started again. When all cells have a
result, the report is printed.`,
		Examples: `drawknife sweep run grid.yaml
drawknife sweep run grid.yaml --shards 50 --parallel 4 -o json`,
		Exit: statuses("cells have no answer, such as those with bad input; the report names them"),
		Begin: func() commands.Run {
			o := begin(own, "run")
			o.addResults()
			o.flags.IntVar(&o.shards, "shards", 0, "divide the cells into `N` shards; 0: as many as run at a time")
			o.flags.IntVar(&o.parallel, "parallel", runtime.GOMAXPROCS(0), "run `N` shards at a time")
			o.flags.IntVar(&o.retries, "retries", 3, "start a shard that fails again up to `N` times")
			o.addOutput()
			return o.run(runAll)
		},
	}
}

func shardCommand(own Options) commands.Command {
	return commands.Command{
		Name: "shard", Summary: "Run the cells of one shard that have no result yet", Arguments: "GRID",
		Help: `shard runs every N-th cell of the grid, from the index on, and writes the result of each to the folder of results. In a pod of an
Indexed Job, the index is that of the pod.`,
		Examples: `drawknife sweep shard grid.yaml --shards 200 --index 17`,
		Exit:     statuses(""),
		Begin: func() commands.Run {
			o := begin(own, "shard")
			o.addResults()
			o.flags.IntVar(&o.shards, "shards", 1, "number `N` of shards of the sweep")
			o.flags.IntVar(&o.index, "index", -1, "`INDEX` of this shard, from 0 on; -1: the value of "+indexVariable)
			return o.run(runShard)
		},
	}
}

func reduceCommand(own Options) commands.Command {
	return commands.Command{
		Name: "reduce", Summary: "Print the report of a sweep whose cells all have a result", Arguments: "GRID",
		Help: `reduce reads the results of all cells, and prints one table of their figures with the means of each value. It is the same for the
same grid and inputs, byte for byte, however many shards there were. It must run with the same files as the shards.`,
		Examples: `drawknife sweep reduce grid.yaml
drawknife sweep reduce grid.yaml -o csv > sweep.csv`,
		Exit: statuses("cells have no answer, such as those with bad input; the report names them"),
		Begin: func() commands.Run {
			o := begin(own, "reduce")
			o.addResults()
			o.addOutput()
			return o.run(runReduce)
		},
	}
}

func manifestCommand(own Options) commands.Command {
	return commands.Command{
		Name: "manifest", Summary: "Print an Indexed Job that runs all shards on a Kubernetes cluster", Arguments: "GRID",
		Help: `manifest prints a Job with one pod for each shard. The pods share a volume (a PersistentVolumeClaim that several nodes can mount for
writing), which has the grid, its input files and the results; names of files are relative to its root. A pod that dies is started
again by the Job controller, and runs only the cells that have no result. Afterwards, run reduce where the volume is mounted.`,
		Examples: `drawknife sweep manifest grid.yaml --shards 200 --parallel 50 --image registry.example.com/drawknife:1 --claim sweep | kubectl apply -f -`,
		Exit:     statuses(""),
		Begin: func() commands.Run {
			o := begin(own, "manifest")
			o.addResults()
			o.flags.IntVar(&o.shards, "shards", 1, "number `N` of shards, each a pod")
			o.flags.IntVar(&o.parallel, "parallel", 10, "at most `N` pods at a time")
			o.flags.IntVar(&o.retries, "retries", 3, "start a pod that fails again up to `N` times")
			o.flags.StringVar(&o.job.name, "name", "drawknife-sweep", "`NAME` of the Job")
			o.flags.StringVar(&o.job.namespace, "namespace", "", "`NAMESPACE` of the Job; empty: that of kubectl's context")
			o.flags.StringVar(&o.job.image, "image", "", "`IMAGE` whose entrypoint is drawknife")
			o.flags.StringVar(&o.job.claim, "claim", "", "`NAME` of the PersistentVolumeClaim")
			o.flags.StringVar(&o.job.cpu, "cpu", "1", "`QUANTITY` of CPU that each pod requests")
			o.flags.StringVar(&o.job.memory, "memory", "2Gi", "`QUANTITY` of memory that each pod requests, and may use")
			return o.run(runManifest)
		},
	}
}

// statuses are the exit statuses of a command. unanswered is what exitUnanswered means; empty if the command does not end with it.
func statuses(unanswered string) []commands.ExitStatus {
	all := []commands.ExitStatus{{Code: exitDone, Meaning: "done"}, {Code: exitInput, Meaning: "bad usage, or a file cannot be read"}}
	if unanswered != "" {
		all = append(all, commands.ExitStatus{Code: exitUnanswered, Meaning: unanswered})
	}
	return append(all,
		commands.ExitStatus{Code: exitCloud, Meaning: "cells could not be run: a shard failed too often, or a cloud did not answer; run the same again"},
		commands.ExitStatus{Code: exitOutput, Meaning: "a result or the report could not be written"},
		commands.ExitStatus{Code: interrupt.Status, Meaning: "interrupted; the results of complete cells stay"})
}

// commandLine is the command line of one run.
type commandLine struct {
	options
	flags *flag.FlagSet
	name  string
}

func begin(own Options, name string) *commandLine {
	o := &commandLine{options: options{commands: own.Commands, program: own.Program}, name: "drawknife sweep " + name}
	o.flags = flag.NewFlagSet(o.name, flag.ContinueOnError)
	o.flags.SetOutput(io.Discard)
	return o
}

func (o *commandLine) addResults() {
	o.flags.StringVar(&o.results, "results", "sweep-results", "`FOLDER` of the results, a file for each cell")
}

func (o *commandLine) addOutput() {
	o.flags.StringVar(&o.output, "output", outputText, "`FORMAT` of the report: "+strings.Join(outputs(), ", "))
	o.flags.Var(o.flags.Lookup("output").Value, "o", "")
}

// run returns the run of a command.
func (o *commandLine) run(do func(context.Context, *options, io.Writer, io.Writer) (int, error)) commands.Run {
	return commands.Run{Flags: o.flags, Do: func(ctx context.Context, arguments []string, streams commands.Streams) int {
		out, messages := printable.NewWriter(streams.Out), printable.NewWriter(streams.Err)
		o.arguments = arguments
		code, err := exitInput, o.check()
		if err != nil {
			err = fmt.Errorf("%w\nRun %s --help for its flags", err, o.name)
		} else {
			code, err = do(ctx, &o.options, out, messages)
		}
		if err != nil {
			for fault := range strings.Lines(err.Error()) {
				fmt.Fprintf(messages, "%s: %s\n", o.name, strings.TrimSuffix(fault, "\n"))
			}
		}
		if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitDone {
			return exitOutput
		}
		return code
	}}
}

// check checks the arguments and the flags.
func (o *commandLine) check() error {
	given := func(name string) bool { return o.flags.Lookup(name) != nil }
	switch {
	case len(o.arguments) != 1:
		return fmt.Errorf("needs one argument, the file of the grid, not %d", len(o.arguments))
	case o.results == "":
		return errors.New("--results must name a folder")
	case given("output") && !slices.Contains(outputs(), o.output):
		return fmt.Errorf("--output %q: not one of %s", o.output, strings.Join(outputs(), ", "))
	case given("parallel") && o.parallel < 1:
		return fmt.Errorf("--parallel %d: must be at least 1", o.parallel)
	case given("retries") && (o.retries < 0 || o.retries > 1000):
		return fmt.Errorf("--retries %d: must be from 0 to 1000", o.retries)
	case given("shards") && o.name == "drawknife sweep run" && o.shards == 0:
		o.shards = o.parallel
	}
	if given("shards") && (o.shards < 1 || o.shards > maxShards) {
		return fmt.Errorf("--shards %d: must be from 1 to %d", o.shards, maxShards)
	}
	return nil
}

// failed returns the exit status for an error.
func failed(ctx context.Context, err error) (int, error) {
	var write *writeError
	var grid *GridError
	var missing *missingError
	switch {
	case err == nil:
		return exitDone, nil
	case ctx.Err() != nil:
		return interrupt.Status, context.Cause(ctx)
	case errors.As(err, &write):
		return exitOutput, err
	case errors.As(err, &grid), errors.As(err, &missing), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return exitInput, err
	}
	return exitCloud, err
}

func runShard(ctx context.Context, o *options, _, messages io.Writer) (int, error) {
	if o.index == -1 {
		text := os.Getenv(indexVariable)
		index, err := strconv.Atoi(text)
		if err != nil {
			return exitInput, fmt.Errorf("--index is missing, and %s=%q is no number", indexVariable, text)
		}
		o.index = index
	}
	if o.index < 0 || o.index >= o.shards {
		return exitInput, fmt.Errorf("--index %d: must be from 0 to %d, as there are %d shards", o.index, o.shards-1, o.shards)
	}
	s, err := open(o, o.arguments[0])
	if err != nil {
		return exitInput, err
	}
	p, err := s.runCells(ctx, Shard(s.cells, o.index, o.shards), messages)
	fmt.Fprintf(messages, "shard %d of %d: %d cells run, %d had their result, %d could not be run\n", o.index, o.shards, p.Ran, p.Kept, p.Failed)
	return failed(ctx, err)
}

func runReduce(ctx context.Context, o *options, out, _ io.Writer) (int, error) {
	s, err := open(o, o.arguments[0])
	if err != nil {
		return exitInput, err
	}
	return s.report(ctx, o, out)
}

// report prints the report.
func (s *sweep) report(ctx context.Context, o *options, out io.Writer) (int, error) {
	r, err := s.reduce()
	if err != nil {
		return failed(ctx, err)
	}
	if err := r.write(out, o.output); err != nil {
		return exitOutput, err
	}
	if r.unanswered() > 0 {
		return exitUnanswered, nil
	}
	return exitDone, nil
}

func runAll(ctx context.Context, o *options, out, messages io.Writer) (int, error) {
	s, err := open(o, o.arguments[0])
	if err != nil {
		return exitInput, err
	}
	program := o.program
	if program == nil {
		self, err := os.Executable()
		if err != nil {
			return exitInput, fmt.Errorf("cannot find the program of the shards: %w", err)
		}
		program = []string{self}
	}
	p := &processes{program: program, shards: min(o.shards, len(s.cells)), parallel: o.parallel, retries: o.retries, messages: messages}
	if err := p.run(ctx, o.arguments[0], o.results); err != nil {
		return failed(ctx, err)
	}
	return s.report(ctx, o, out)
}

func runManifest(_ context.Context, o *options, out, _ io.Writer) (int, error) {
	s, err := open(o, o.arguments[0])
	if err != nil {
		return exitInput, err
	}
	for flag, name := range map[string]string{"GRID": o.arguments[0], "--results": o.results} {
		if !filepath.IsLocal(name) {
			return exitInput, fmt.Errorf("%s %q: must be a relative name, because the pods have the volume at %s", flag, name, mountPath)
		}
	}
	j := o.job
	j.grid, j.results = filepath.ToSlash(o.arguments[0]), filepath.ToSlash(o.results)
	j.shards, j.parallel, j.retries = min(o.shards, len(s.cells)), o.parallel, o.retries
	if err := j.check(); err != nil {
		return exitInput, err
	}
	text, err := yaml.Marshal(j.object())
	if err != nil {
		return exitOutput, err
	}
	if _, err := out.Write(text); err != nil {
		return exitOutput, err
	}
	return exitDone, nil
}
