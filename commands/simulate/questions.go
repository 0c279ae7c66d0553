package simulate

import (
	"context"
	"errors"
	"fmt"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/simulate/internal/progress"
	"github.com/drawknife/drawknife/internal/printable"
)

// inputs describes, in the usage line, the arguments of commands that read a cluster.
const inputs = "[FILE|DIR|- ...]"

// Commands returns the questions that simulate answers, each as a separate command: plan, consolidate, diff, drain, explain and replay.
func Commands(own Options) []commands.Command {
	return []commands.Command{planCommand(own), consolidateCommand(own), diffCommand(own), drainCommand(own), explainCommand(own), replayCommand(own)}
}

// planCommand returns the command that plans places for pending pods.
func planCommand(own Options) commands.Command {
	return commands.Command{
		Name: "plan", Summary: "Plan nodes for the pods that wait for a place, and say what the nodes cost", Arguments: inputs,
		Help: `plan plans the pods of a cluster on its existing nodes and on new nodes, and prints what the new nodes cost. For each pod without a
place it prints the reason. Inputs are Kubernetes objects as YAML or JSON: files, folders, or "-" for standard input. The flags
--context, -n and -A read a running cluster with kubectl. An object of the inputs replaces the same object of the cluster, as with
kubectl apply, and the pods of a replaced workload are planned again. Without inputs and a cluster, a small built-in cluster is
planned.`,
		Examples: `drawknife plan deploy/ nodepool.yaml
drawknife plan -A
drawknife plan -A new-service.yaml -o json
drawknife plan cluster.json --cost-model costs.yaml
drawknife plan cluster.json --usage cpu=cpu.json --usage memory=memory.json`,
		Exit: exitStatuses(exitUnschedulable, "the plan was made, and some pods have no place"),
		Begin: func() commands.Run {
			l := newCommandLine("drawknife plan")
			l.addCommon()
			l.addPolicies()
			l.addPage()
			l.addProof()
			l.addUsage()
			return l.run(own, nil)
		},
	}
}

// consolidateCommand returns the command that plans which nodes could be removed.
func consolidateCommand(own Options) commands.Command {
	return commands.Command{
		Name: "consolidate", Summary: "Show which nodes could be removed or replaced now, and why the others stay", Arguments: inputs,
		Help: `consolidate plans the disruption of a cluster's nodes within the budgets of their NodePools: which nodes are removed in which order,
which nodes replace them, what that saves, and how many pods have to move. It changes nothing in the cluster.`,
		Examples: `drawknife consolidate -A
drawknife consolidate cluster.json --planner reference
drawknife consolidate cluster.json --disruption-min-saving 0.5 -o json`,
		Exit: exitStatuses(),
		Begin: func() commands.Run {
			l := newCommandLine("drawknife consolidate")
			l.read.consolidate = true
			l.addCommon()
			l.addPolicies()
			l.addPage()
			l.addConsolidation()
			l.addThresholds()
			return l.run(own, nil)
		},
	}
}

// diffCommand returns the command that compares two sets of NodePools, of workloads, or of both.
func diffCommand(own Options) commands.Command {
	return commands.Command{
		Name: "diff", Summary: "Compare a cluster with another set of NodePools or workloads: what drifts, what both cost, and whether a policy allows it", Arguments: inputs + " NEW",
		Help: `diff compares the input with NEW, the last argument: a file or folder with the complete new set of NodePools, of workloads, or of
both. NodePools of the input that NEW lacks are removed if NEW has NodePools; the same applies to workloads. Objects of a running
cluster that are neither in the input nor in NEW stay. diff prints which nodes would drift, which workloads differ, and what the
cluster costs before the change and after all replacements. With --policy it judges the change: a gate for CI (docs/gate.md).`,
		Examples: `drawknife diff cluster.json pools.yaml
drawknife diff -A pools.yaml
drawknife diff main.yaml pr.yaml --policy budget.yaml -o markdown
drawknife diff main/ pr/ --policy budget.yaml --report sarif=gate.sarif --report junit=gate.xml`,
		Exit: append(exitStatuses(exitUnschedulable, "more pods than before have no place, and no rule of --policy limits them"), policyStatuses()...),
		Begin: func() commands.Run {
			l := newCommandLine("drawknife diff")
			l.addCommon()
			l.addPolicies()
			l.addPage()
			l.addPolicy()
			return l.run(own, func(o *options) error {
				if len(o.inputs) == 0 {
					return errors.New("needs the file of the new NodePools or workloads as its last argument: drawknife diff cluster.json pools.yaml")
				}
				last := len(o.inputs) - 1
				o.diff, o.inputs = o.inputs[last], o.inputs[:last]
				return nil
			})
		},
	}
}

// drainCommand returns the command that plans a cluster without some of its nodes.
func drainCommand(own Options) commands.Command {
	return commands.Command{
		Name: "drain", Summary: "Plan a cluster without some of its nodes, and say which nodes would take their place", Arguments: inputs,
		Help: `drain leaves out the nodes that match a label selector, and plans their pods as pending pods. It prints which nodes would be
launched, what they cost, and what the nodes cost that were left out. It changes nothing in the cluster.`,
		Examples: `drawknife drain cluster.json pools.yaml --selector eks.amazonaws.com/nodegroup=blue
drawknife drain -A -l topology.kubernetes.io/zone=us-east-1a`,
		Exit: exitStatuses(exitUnschedulable, "some pods have no place without these nodes"),
		Begin: func() commands.Run {
			l := newCommandLine("drawknife drain")
			l.addCommon()
			l.addPolicies()
			l.addPage()
			l.text(&l.replace, "selector", "leave out the nodes with these labels; `SELECTOR` is a label selector, such as eks.amazonaws.com/nodegroup=blue")
			l.also("l", "selector")
			return l.run(own, func(o *options) error {
				selector, err := parseNodeSelector("--selector", l.replace)
				o.replace, o.replaceFlag = selector, "--selector"
				return err
			})
		},
	}
}

// replayCommand returns the command that simulates pools with a trace of pods.
func replayCommand(own Options) commands.Command {
	return commands.Command{
		Name: "replay", Summary: "Replay a trace of pods over NodePools: a month of a cluster's life in a minute", Arguments: inputs + " TRACE",
		Help: `replay simulates a cluster over time. The last argument, TRACE, is a CSV file of pods that arrive and end. Nodes come from the
NodePools of the inputs and are consolidated; spot nodes are interrupted at random. The same seed gives the same result.`,
		Examples: `drawknife replay nodepool.yaml trace.csv
drawknife replay nodepool.yaml trace.csv --html replay.html --seed 7`,
		Exit: exitStatuses(exitUnschedulable, "some pods of the trace never had a place"),
		Begin: func() commands.Run {
			l := newCommandLine("drawknife replay")
			l.addCommon()
			l.addPolicies()
			l.addPage()
			l.addReplay()
			l.addThresholds()
			return l.run(own, func(o *options) error {
				if len(o.inputs) == 0 {
					return errors.New("needs the trace as its last argument: drawknife replay nodepool.yaml trace.csv")
				}
				last := len(o.inputs) - 1
				o.replay.trace, o.inputs = o.inputs[last], o.inputs[:last]
				return nil
			})
		},
	}
}

// exitStatuses returns the exit statuses of a command that reads a cluster. unplaced is the number and the meaning of status 2, for
// commands that have it.
func exitStatuses(unplaced ...any) []commands.ExitStatus {
	statuses := []commands.ExitStatus{{Code: exitPlaced, Meaning: "the question was answered"}, {Code: exitInput, Meaning: "bad input or usage: nothing was planned"}}
	if len(unplaced) == 2 {
		statuses = append(statuses, commands.ExitStatus{Code: unplaced[0].(int), Meaning: unplaced[1].(string)})
	}
	return append(statuses,
		commands.ExitStatus{Code: exitTimeout, Meaning: "--timeout ran out"},
		commands.ExitStatus{Code: exitCloud, Meaning: "AWS or the cluster could not be called, or did not answer"},
		commands.ExitStatus{Code: exitOutput, Meaning: "output could not be written"},
		commands.ExitStatus{Code: exitInterrupted, Meaning: "interrupted; standard error says what was written before"},
	)
}

// addCommon declares the flags that all commands have.
func (l *commandLine) addCommon() {
	l.addForm()
	l.addInput()
	l.addCluster()
	l.addSaved()
	l.addCosts()
}

// run returns the Run of a command with declared flags. If ask is not nil, it completes the options before they are checked.
func (l *commandLine) run(own Options, ask func(*options) error) commands.Run {
	return commands.Run{
		Flags: l.flags,
		Do: func(ctx context.Context, arguments []string, streams commands.Streams) int {
			out, messages := printable.NewWriter(streams.Out), printable.NewWriter(streams.Err)
			code := l.answer(ctx, arguments, streams, out, messages, own, ask)
			if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitPlaced {
				return exitOutput
			}
			return code
		},
	}
}

func (l *commandLine) answer(ctx context.Context, arguments []string, streams commands.Streams, out, messages *printable.Writer, own Options, ask func(*options) error) int {
	l.read.inputs = arguments
	if ask != nil {
		if err := ask(&l.read); err != nil {
			return l.refuse(messages, err)
		}
	}
	o, err := l.options(l.read.inputs)
	if err != nil {
		return l.refuse(messages, err)
	}
	if o.provider == providerAWS && !linksAWS {
		return l.refuse(messages, fmt.Errorf("%w; build this program with: go build -tags aws", errWithoutAWS))
	}
	s := &simulation{options: o, matcher: own.DeviceMatcher, stdin: streams.In, stdout: out, stderr: messages, progress: progress.Silent()}
	return s.supervise(ctx, messages)
}

// refuse prints why a command line is invalid, and returns the exit status.
func (l *commandLine) refuse(messages *printable.Writer, err error) int {
	fmt.Fprintf(messages, "%s: %s\nRun %s --help for its flags and inputs.\n", l.read.program, err, l.read.program)
	return exitInput
}

// supervise runs the simulation with a progress line and a time limit, and returns its exit status.
func (s *simulation) supervise(ctx context.Context, messages *printable.Writer) int {
	end := s.form()
	if isTerminal(messages) && !s.quiet {
		s.progress = progress.Start(messages.Unwrap())
	}
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("%w after --timeout %s", errTimeout, s.timeout))
		defer cancel()
	}
	a := s.await(ctx)
	s.progress.Stop()
	if err := end(); err != nil && a.err == nil {
		a.err = withStatus(exitOutput, fmt.Errorf("writing: %w", err))
	}
	if a.err != nil {
		s.report(ctx, a.err)
		return statusOf(ctx, a.err)
	}
	return a.code
}
