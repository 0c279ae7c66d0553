package simulate

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	autoscalingv1 "github.com/drawknife/drawknife/api/autoscaling/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/commands/simulate/internal/progress"
	"github.com/drawknife/drawknife/commands/simulate/internal/report"
	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/internal/version"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/manifests"
	"github.com/drawknife/drawknife/scheduling/redact"
	"github.com/drawknife/drawknife/scheduling/requests"
)

// Exit statuses, part of the contract in the package comment and in --help.
const (
	// exitPlaced means that the question was answered; for a plan, it means that all pods have a place.
	exitPlaced = 0
	// exitInput means that the input or the usage is wrong, and nothing was planned.
	exitInput = 1
	// exitUnschedulable means that the plan was made, but some pods have no place.
	exitUnschedulable = 2
	// exitTimeout means that the time of --timeout has passed.
	exitTimeout = 3
	// exitCloud means that AWS or the cluster could not be asked, or did not answer.
	exitCloud = 4
	// exitOutput means that the result could not be written.
	exitOutput = 5
	// exitInterrupted means that the user interrupted the run; shells use the same status.
	exitInterrupted = 130
)

// simulation is one run of the command.
type simulation struct {
	options
	// matcher evaluates selectors of devices; nil if there is no matcher.
	matcher        scheduling.DeviceMatcher
	stdin          io.Reader
	stdout, stderr io.Writer
	// progress stores the stage of the run and shows it to the user.
	progress *progress.Line
	// done contains the files that were written.
	done outcome
	// abandoned says that the run was aborted and continues until the process ends.
	abandoned bool
	// remarks are printed to standard error after the progress line is removed.
	remarks []remark
	// printed is the number of remarks that are already printed.
	printed int
	// facts and classes are the inputs from which instance types are made; nodes is the number of nodes in the input. They are set after
	// loading.
	facts   *catalog.Catalog
	classes nodeClasses
	nodes   int
	// former and live are the sources of the input and of the running cluster. diff combines the other set with them.
	former, live []manifests.Source
	// scaled are the workloads with autoscalers whose range is part of the answer.
	scaled scaled
	// assumed lists the assumptions beyond the input; nil if there are none.
	assumed *assumptions
	// global contains the settings of the input; nil if it has none. logging are the ConfigMaps config-logging, perhaps of other projects.
	global  *globalSettings
	logging []manifests.ConfigMap
	// requests are the ProvisioningRequests to answer, with the PodTemplates that they refer to. round answers the requests; it is nil if
	// there are no requests.
	requests     []*autoscalingv1.ProvisioningRequest
	podTemplates []*corev1.PodTemplate
	round        *requests.Round
}

// remark is a line on standard error about a problem that did not stop the run.
type remark struct {
	// severity is "note" or "warning".
	severity string
	text     string
	// note is the remark in the JSON output; zero if the plan itself contains the remark.
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

// result is a plan with the duration of planning.
type result struct {
	snapshot       *scheduling.Snapshot
	plan           *scheduling.Plan
	compile, solve time.Duration
	// replaced contains the nodes that were left out; nil without --replace-nodes.
	replaced *replaced
	// answers are the answers to ProvisioningRequests.
	answers []requests.Answer
	// replicas is the range that autoscalers allow; nil without autoscalers.
	replicas *replicaRange
	// usage is the plan with requests at usage; nil without --usage.
	usage *usagePlan
}

func command(ctx context.Context, args []string, stdin io.Reader, stdout, stderr *printable.Writer, own Options) int {
	o, err := parseOptions(args)
	if errors.Is(err, errHelp) {
		if _, err := io.WriteString(stdout, helpText); err != nil {
			return exitOutput
		}
		return exitPlaced
	}
	if err != nil {
		fmt.Fprintf(stderr, "simulate: %s\nRun simulate --help for its flags and inputs.\n", err)
		return exitInput
	}
	if o.version {
		if _, err := io.WriteString(stdout, version.Line("simulate")); err != nil {
			return exitOutput
		}
		return exitPlaced
	}
	if o.provider == providerAWS && !linksAWS && own.DeviceMatcher != nil {
		fmt.Fprintf(stderr, "simulate: %s; build this program with: go build -tags aws\n", errWithoutAWS)
		return exitInput
	}
	if o.provider == providerAWS && !linksAWS {
		code, err := relay(ctx, args, stdin, stdout.Unwrap(), stderr.Unwrap())
		if err != nil {
			fmt.Fprintf(stderr, "simulate: %s\n", err)
			return exitInput
		}
		return code
	}
	s := &simulation{options: o, matcher: own.DeviceMatcher, stdin: stdin, stdout: stdout, stderr: stderr, progress: progress.Silent()}
	return s.supervise(ctx, stderr)
}

func (s *simulation) run(ctx context.Context) (int, error) {
	measured, err := s.readUsage()
	if err != nil {
		return 0, err
	}
	snapshot, err := s.load(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.addCosts(snapshot); err != nil {
		return 0, err
	}
	if snapshot, err = s.beginRound(ctx, snapshot); err != nil {
		return 0, err
	}
	if s.saveSnapshot != "" {
		s.progress.Enter("saving the snapshot")
		if err := s.save(snapshot); err != nil {
			return 0, withStatus(exitOutput, fmt.Errorf("saving the snapshot: %w", err))
		}
		s.done.wrote(s.saveSnapshot)
	}
	s.nodes = len(snapshot.Nodes)
	var without *replaced
	if s.replace != nil {
		if snapshot, without, err = s.replaceNodes(snapshot); err != nil {
			return 0, err
		}
	}
	switch {
	case s.explain.kind != "":
		return s.explainObject(ctx, snapshot)
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
	if r.answers, err = s.answer(ctx, r.plan); err != nil {
		return 0, err
	}
	if r.replicas, err = s.planRange(ctx, r); err != nil {
		return 0, err
	}
	if r.usage, err = s.planUsage(ctx, measured, r); err != nil {
		return 0, err
	}
	if s.certificate != "" {
		s.progress.Enter("writing the certificate")
		if err := writeFile(s.certificate, newCertificateDocument(r.plan.Certificate).write); err != nil {
			return 0, withStatus(exitOutput, fmt.Errorf("writing the certificate: %w", err))
		}
		s.done.wrote(s.certificate)
	}
	if err := s.writePage(func() *report.Page { return s.planPage(r) }); err != nil {
		return 0, err
	}
	s.remarkOnSpotRisk(r.snapshot, r.plan)
	s.remarkOnImages(r.snapshot, r.plan)
	for _, n := range r.plan.Notes {
		s.remark("note", noteLine(n), planNote{})
	}
	s.progress.Stop()
	s.printRemarks()
	if err := s.print(r); err != nil {
		return 0, withStatus(exitOutput, fmt.Errorf("writing the plan: %w", err))
	}
	if pods, _ := separate(r.snapshot, r.plan); len(pods.Unschedulable) > 0 || unanswered(r.answers) {
		return exitUnschedulable, nil
	}
	return exitPlaced, nil
}

// save writes the parts of the snapshot that planning reads to a file that only the user can read.
func (s *simulation) save(snapshot *scheduling.Snapshot) error {
	if s.anonymize {
		return writeFileFor(s.saveSnapshot, 0o600, redact.Anonymize(snapshot, []byte(s.anonymizeKey)).Encode)
	}
	return writeFileFor(s.saveSnapshot, 0o600, redact.Strip(snapshot).Encode)
}

// solve plans the snapshot.
func (s *simulation) solve(ctx context.Context, snapshot *scheduling.Snapshot) (result, error) {
	s.progress.Enter("compiling " + counted(len(snapshot.Pods), "pod"))
	s.remarkOnDevices(snapshot)
	start := time.Now()
	model, err := scheduling.Compile(snapshot, scheduling.WithDeviceMatcher(s.matcher))
	if err != nil {
		return result{}, fmt.Errorf("compiling the snapshot: %w", err)
	}
	compiled := time.Now()
	s.progress.Enter("planning " + counted(len(snapshot.Pods), "pod"))
	plan, err := model.Solve(ctx, s.query)
	if err != nil {
		return result{}, fmt.Errorf("planning: %w", err)
	}
	return result{snapshot: snapshot, plan: plan, compile: compiled.Sub(start), solve: time.Since(compiled)}, nil
}

// print writes the plan to standard output in the format of --output.
func (s *simulation) print(r result) error {
	prices := pricingOf(r.plan)
	if s.output.structured() {
		// Writing a large plan leaves much garbage. Collect the garbage early, so that it does not double the memory of the plan.
		defer debug.SetGCPercent(debug.SetGCPercent(25))
		b := bufio.NewWriter(s.stdout)
		if err := writeDocument(b, s.output, s.documentOf(r, prices)); err != nil {
			return err
		}
		return b.Flush()
	}
	pods, _ := separate(r.snapshot, r.plan)
	text := textReport{
		canvas:   newCanvas(s.stdout, s.color, os.Getenv),
		snapshot: r.snapshot, plan: r.plan, summary: newSummary(r.snapshot, pods, r.solve),
		preempted: s.query.Preemption == scheduling.PreemptionExpect,
		answers:   r.answers,
		verbose:   s.verbose, compile: r.compile, solve: r.solve, assumed: s.assumed, replaced: r.replaced, pricing: prices,
		usage: r.usage,
	}
	if r.replaced != nil {
		text.unpriced = r.replaced.unknownPrices
	}
	text.summary.Replicas = r.replicas
	for i := range pods.NewNodes {
		if kind := kindOf(&pods.NewNodes[i]); s.assumed.isEstimated(kind.instanceType, kind.capacityType) {
			text.summary.Estimated++
		}
	}
	return text.write(s.stdout)
}

// documentOf returns the document of a plan.
func (s *simulation) documentOf(r result, prices pricing) document {
	d := newDocument(r.snapshot, r.plan, r.solve)
	d.Notes = append(s.notes(), d.Notes...)
	d.Requests = newRequests(r.answers)
	d.Summary.CompileMillis = float64(r.compile.Microseconds()) / 1000
	if r.replaced != nil {
		d.Summary.ReplacedNodes, d.Summary.ReplacedUnpriced, d.Summary.ReplacedEstimated = &r.replaced.nodes, r.replaced.unpriced, r.replaced.estimated
		d.Summary.ReplacedCost = r.replaced.figure()
		d.Notes = append(d.Notes, r.replaced.unknownPrices.notes()...)
	}
	d.Summary.Replicas = r.replicas
	r.usage.fill(&d)
	d.Assumptions = s.assumed.list()
	d.Prices, d.Summary.OnDemandCost = append(d.Prices, prices.sources...), prices.onDemand
	d.Summary.LowCost, d.Summary.HighCost = prices.low, prices.high
	for i := range d.Nodes {
		d.Nodes[i].PriceEstimated = s.assumed.isEstimated(d.Nodes[i].InstanceType, d.Nodes[i].CapacityType)
		if d.Nodes[i].PriceEstimated {
			d.Summary.Estimated++
		}
	}
	return d
}

// notes returns the notes of the remarks that have one, for the JSON output.
func (s *simulation) notes() []planNote {
	notes := make([]planNote, 0, len(s.remarks))
	for _, r := range s.remarks {
		if r.note != (planNote{}) {
			notes = append(notes, r.note)
		}
	}
	return notes
}

// printRemarks prints the remarks that are not printed yet.
func (s *simulation) printRemarks() {
	for _, r := range s.remarks[s.printed:] {
		if s.quiet && r.severity == "note" {
			continue
		}
		fmt.Fprintf(s.stderr, "%s: %s: %s\n", s.program, r.severity, r.text)
	}
	s.printed = len(s.remarks)
}

// report prints the error that ended the run, with one line for each fault.
func (s *simulation) report(ctx context.Context, err error) {
	if !s.abandoned {
		s.printRemarks()
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrInterrupted), errors.Is(cause, errTimeout) && s.abandoned:
		err = fmt.Errorf("%w while %s: %s", cause, cmp.Or(s.progress.Now(), "starting"), &s.done)
	case cause != nil && errors.Is(err, ctx.Err()):
		err = cause
	}
	for fault := range strings.Lines(err.Error()) {
		fmt.Fprintf(s.stderr, "%s: %s\n", s.program, strings.TrimSuffix(fault, "\n"))
	}
}

func noteLine(n scheduling.Note) string {
	if n.Object == "" {
		return n.Message
	}
	return n.Object + ": " + n.Message
}

// writeFile creates a file and calls write to write its content; a file that can't be written completely is an error.
func writeFile(name string, write func(io.Writer) error) error {
	return writeFileFor(name, 0o666, write)
}

// writeFileFor is writeFile with permissions. An existing regular file with more permissions than mode gets the permissions of mode.
func writeFileFor(name string, mode os.FileMode, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&^mode != 0 {
		if err := file.Chmod(mode); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	b := bufio.NewWriter(file)
	if err := errors.Join(write(b), b.Flush(), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
