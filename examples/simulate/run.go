package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/scheduling"
)

// Exit statuses, part of the contract in the package comment and in --help.
const (
	// exitPlaced: all pods have a place.
	exitPlaced = 0
	// exitInput: bad input or usage, or something else that kept the plan from being made or written.
	exitInput = 1
	// exitUnschedulable: the plan was made, but some pods have no place.
	exitUnschedulable = 2
)

// simulation is one run of the command.
type simulation struct {
	options
	stdin          io.Reader
	stdout, stderr io.Writer
	// progress shows the stage of a long run; nil when nobody looks.
	progress *progress
	// remarks are for standard error, held back until the progress line is gone.
	remarks []remark
	// printed is how many of them are out.
	printed int
	// facts and classes are what instance types were made from, and nodes how many the input has; once it is loaded.
	facts   *catalog.Catalog
	classes nodeClasses
	nodes   int
	// global are the settings that the input has; nil without any.
	global *globalSettings
}

// remark is a line for standard error: something the user should know that did not stop the run.
type remark struct {
	// severity is "note" or "warning".
	severity string
	text     string
	// note is the remark in the JSON output; zero where the plan itself has it.
	note planNote
}

// note adds a remark on the input, with its code in the JSON output.
func (s *simulation) note(code, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.remark("note", text, planNote{Code: code, Message: text})
}

func (s *simulation) warn(text string, note planNote) { s.remark("warning", text, note) }

// remark adds a remark unless it was made before.
func (s *simulation) remark(severity, text string, note planNote) {
	r := remark{severity, text, note}
	if !slices.Contains(s.remarks, r) {
		s.remarks = append(s.remarks, r)
	}
}

// result is a plan and how long it took to make.
type result struct {
	snapshot       *scheduling.Snapshot
	plan           *scheduling.Plan
	compile, solve time.Duration
	// replaced are nodes that were left out; nil without --replace-nodes.
	replaced *replaced
}

// run is the command: it reads args (without the program's name) and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	if errors.Is(err, errHelp) {
		if _, err := io.WriteString(stdout, helpText); err != nil {
			return exitInput
		}
		return exitPlaced
	}
	if err != nil {
		fmt.Fprintf(stderr, "simulate: %s\nRun simulate --help for its flags and inputs.\n", err)
		return exitInput
	}
	if o.provider == providerAWS && !linksAWS {
		code, err := relay(ctx, args, stdin, stdout, stderr)
		if err != nil {
			fmt.Fprintf(stderr, "simulate: %s\n", err)
			return exitInput
		}
		return code
	}
	s := &simulation{options: o, stdin: stdin, stdout: stdout, stderr: stderr}
	if isTerminal(stderr) {
		s.progress = startProgress(stderr)
	}
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("gave up after --timeout %s", o.timeout))
		defer cancel()
	}
	code, err := s.run(ctx)
	s.progress.stop()
	if err != nil {
		s.report(ctx, err)
		return exitInput
	}
	return code
}

func (s *simulation) run(ctx context.Context) (int, error) {
	snapshot, err := s.load(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.readCostModel(snapshot); err != nil {
		return 0, err
	}
	if s.saveSnapshot != "" {
		s.progress.enter("saving the snapshot")
		if err := writeFile(s.saveSnapshot, snapshot.Encode); err != nil {
			return 0, fmt.Errorf("saving the snapshot: %w", err)
		}
	}
	s.nodes = len(snapshot.Nodes)
	var without *replaced
	if s.replace != nil {
		if snapshot, without, err = s.replaceNodes(snapshot); err != nil {
			return 0, err
		}
	}
	switch {
	case s.consolidate:
		return s.planConsolidation(ctx, snapshot)
	case s.diff != "":
		return s.planDifference(ctx, snapshot)
	case s.replay.trace != "":
		return s.replayTrace(ctx, snapshot)
	}
	r, err := s.solve(ctx, snapshot)
	if err != nil {
		return 0, err
	}
	r.replaced = without
	if s.certificate != "" {
		s.progress.enter("writing the certificate")
		if err := writeFile(s.certificate, newCertificateDocument(r.plan.Certificate).write); err != nil {
			return 0, fmt.Errorf("writing the certificate: %w", err)
		}
	}
	for _, n := range r.plan.Notes {
		s.remark("note", noteLine(n), planNote{})
	}
	s.progress.stop()
	s.printRemarks()
	if err := s.print(r); err != nil {
		return 0, fmt.Errorf("writing the plan: %w", err)
	}
	if pods, _ := separate(r.snapshot, r.plan); len(pods.Unschedulable) > 0 {
		return exitUnschedulable, nil
	}
	return exitPlaced, nil
}

// solve plans the snapshot.
func (s *simulation) solve(ctx context.Context, snapshot *scheduling.Snapshot) (result, error) {
	s.progress.enter("compiling " + counted(len(snapshot.Pods), "pod"))
	start := time.Now()
	model, err := scheduling.Compile(snapshot)
	if err != nil {
		return result{}, fmt.Errorf("compiling the snapshot: %w", err)
	}
	compiled := time.Now()
	s.progress.enter("planning " + counted(len(snapshot.Pods), "pod"))
	plan, err := model.Solve(ctx, s.query)
	if err != nil {
		return result{}, fmt.Errorf("planning: %w", err)
	}
	return result{snapshot: snapshot, plan: plan, compile: compiled.Sub(start), solve: time.Since(compiled)}, nil
}

// print writes the plan to standard output in the form asked for.
func (s *simulation) print(r result) error {
	d := newDocument(r.snapshot, r.plan, r.solve)
	d.Notes = append(s.notes(), d.Notes...)
	if r.replaced != nil {
		d.Summary.ReplacedNodes, d.Summary.ReplacedCost = &r.replaced.nodes, &r.replaced.cost
	}
	if s.output == outputJSON {
		b := bufio.NewWriter(s.stdout)
		if err := d.write(b); err != nil {
			return err
		}
		return b.Flush()
	}
	text := textReport{
		canvas:   newCanvas(s.stdout, s.color, os.Getenv),
		snapshot: r.snapshot, plan: r.plan, summary: d.Summary,
		verbose: s.verbose, compile: r.compile, solve: r.solve,
	}
	return text.write(s.stdout)
}

// notes are the remarks on how the input was read, for the JSON output.
func (s *simulation) notes() []planNote {
	notes := make([]planNote, 0, len(s.remarks))
	for _, r := range s.remarks {
		if r.note != (planNote{}) {
			notes = append(notes, r.note)
		}
	}
	return notes
}

// printRemarks writes what was held back.
func (s *simulation) printRemarks() {
	for _, r := range s.remarks[s.printed:] {
		fmt.Fprintf(s.stderr, "simulate: %s: %s\n", r.severity, r.text)
	}
	s.printed = len(s.remarks)
}

// report prints why nothing was planned: each fault on a line of its own.
func (s *simulation) report(ctx context.Context, err error) {
	s.printRemarks()
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	for fault := range strings.Lines(err.Error()) {
		fmt.Fprintf(s.stderr, "simulate: %s\n", strings.TrimSuffix(fault, "\n"))
	}
}

func noteLine(n scheduling.Note) string {
	if n.Object == "" {
		return n.Message
	}
	return n.Object + ": " + n.Message
}

// writeFile creates a file and lets write fill it; a file that can't be written whole is an error.
func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(file)
	if err := errors.Join(write(b), b.Flush(), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
