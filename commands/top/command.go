package top

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/top/clusterreport"
	"github.com/drawknife/drawknife/internal/interrupt"
	"github.com/drawknife/drawknife/internal/printable"
)

// Exit statuses, part of the contract in --help.
const (
	exitShown      = 0
	exitInput      = 1
	exitController = 4
	exitOutput     = 5
)

// Values of --output.
const (
	outputText = "text"
	outputJSON = "json"
)

// program is the name of the command in messages.
const program = "drawknife top"

// minInterval is the shortest interval between views: the controller makes a new report once a second.
const minInterval = time.Second

// Command returns the command "top".
func Command() commands.Command {
	return commands.Command{
		Name: "top", Summary: "Show a running controller: nodes and how full they are, waiting pods, commands, costs",
		Help: `top shows what the controller knows about its cluster: what the nodes cost in an hour, what completed commands save,
the commands under way, the pods that wait and why, and the nodes with the shares of CPU and memory that pods request.
Nodes that start or leave come first, then the fullest nodes. On a terminal, top draws the view again every --interval
until it is interrupted. Otherwise, and with --once, it prints one view.

The report is at /debug/cluster on the controller's metrics port. Forward the port, or let top do it: with --forward, it
runs "kubectl port-forward" to the leader's pod, with your kubectl, and ends it afterwards. Only the leader has a
report.`,
		Examples: `drawknife top --forward
drawknife top --forward -n karpenter --context blue
drawknife top --url http://localhost:8080 --once
drawknife top --forward -o json > report.json`,
		Exit: []commands.ExitStatus{
			{Code: exitShown, Meaning: "the view was printed"},
			{Code: exitInput, Meaning: "bad usage"},
			{Code: exitController, Meaning: "the controller cannot be reached, is not the leader, or answers something else"},
			{Code: exitOutput, Meaning: "the view could not be written"},
			{Code: interrupt.Status, Meaning: "interrupted, which is how a live view ends"},
		},
		Begin: begin,
	}
}

// options are the command line.
type options struct {
	url      string
	interval time.Duration
	once     bool
	output   string
	forward  forward
	getenv   func(string) string
	// screen returns the terminal to draw on, or nil if the writer is not a terminal.
	screen func(io.Writer) *screen
}

func begin() commands.Run {
	o := &options{getenv: os.Getenv, screen: terminalOf}
	flags := flag.NewFlagSet(program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.url, "url", "http://localhost:8080", "`URL` of the controller's metrics server")
	flags.DurationVar(&o.interval, "interval", 2*time.Second, "`INTERVAL` between views on a terminal, at least 1s")
	flags.BoolVar(&o.once, "once", false, "print one view, also on a terminal")
	flags.StringVar(&o.output, "output", outputText, "`FORMAT`: text, or json, which prints the report once")
	flags.Var(flags.Lookup("output").Value, "o", "")
	flags.BoolVar(&o.forward.on, "forward", false, "forward a local port to the leader's pod with kubectl, instead of --url")
	flags.StringVar(&o.forward.namespace, "namespace", "kube-system", "`NAMESPACE` of the controller, for --forward")
	flags.Var(flags.Lookup("namespace").Value, "n", "")
	flags.StringVar(&o.forward.context, "context", "", "`CONTEXT` of your kubeconfig, for --forward; empty: the current one")
	flags.StringVar(&o.forward.kubeconfig, "kubeconfig", "", "kubeconfig `FILE`, for --forward")
	flags.StringVar(&o.forward.lease, "lease", "drawknife-leader-election", "`NAME` of the controller's Lease (leader-election-name), for --forward: it names the leader's pod")
	flags.StringVar(&o.forward.target, "target", "deploy/drawknife", "`OBJECT` to forward to if the Lease names no pod, for --forward")
	flags.IntVar(&o.forward.port, "port", 8080, "metrics `PORT` of the controller's pods, for --forward")
	return commands.Run{Flags: flags, Do: func(ctx context.Context, arguments []string, streams commands.Streams) int {
		given := map[string]bool{}
		flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
		messages := printable.NewWriter(streams.Err)
		code := o.run(ctx, arguments, given, streams.Out, messages)
		if err := messages.Flush(); err != nil && code == exitShown {
			return exitOutput
		}
		return code
	}}
}

// outputError is an error of the output.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

func (o *options) run(ctx context.Context, arguments []string, given map[string]bool, out, messages io.Writer) int {
	if err := o.check(arguments, given); err != nil {
		fmt.Fprintf(messages, "%s: %s\nRun %[1]s --help for its flags.\n", program, err)
		return exitInput
	}
	err := o.watch(ctx, out)
	var unwritten outputError
	switch {
	case err == nil:
		return exitShown
	case ctx.Err() != nil:
		fmt.Fprintf(messages, "%s: %s\n", program, context.Cause(ctx))
		return interrupt.Status
	case errors.As(err, &unwritten):
		fmt.Fprintf(messages, "%s: writing: %s\n", program, err)
		return exitOutput
	}
	fmt.Fprintf(messages, "%s: %s\n", program, err)
	return exitController
}

func (o *options) check(arguments []string, given map[string]bool) error {
	if len(arguments) > 0 {
		return fmt.Errorf("unexpected argument %q: top takes only flags", arguments[0])
	}
	given["namespace"] = given["namespace"] || given["n"]
	for _, name := range []string{"namespace", "context", "kubeconfig", "lease", "target", "port"} {
		if given[name] && !o.forward.on {
			return fmt.Errorf("--%s has an effect only with --forward", name)
		}
	}
	switch {
	case o.forward.on && given["url"]:
		return errors.New("--url and --forward: give one of them")
	case o.interval < minInterval:
		return fmt.Errorf("--interval %s: at least %s", o.interval, minInterval)
	case o.output != outputText && o.output != outputJSON:
		return fmt.Errorf("--output %q: not one of text, json", o.output)
	case o.forward.port < 1 || o.forward.port > 65535:
		return fmt.Errorf("--port %d: not a port", o.forward.port)
	}
	at, err := url.Parse(o.url)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" || at.Fragment != "" {
		return fmt.Errorf("--url %q: not a URL such as http://localhost:8080", o.url)
	}
	return nil
}

// watch shows one view, or views until ctx ends.
func (o *options) watch(ctx context.Context, out io.Writer) error {
	from := newClient(o.url)
	if o.forward.on {
		tunnel, err := o.forward.open(ctx)
		if err != nil {
			return err
		}
		defer tunnel.close()
		from = newClient(tunnel.url)
		from.lost = tunnel.ended
	}
	report, err := from.report(ctx)
	if err != nil {
		return err
	}
	screen := o.screen(out)
	if screen != nil && !o.once && o.output == outputText {
		return o.live(ctx, from, screen, report)
	}
	if !report.Leader {
		return errNotLeader
	}
	if o.output == outputJSON {
		return printJSON(out, report)
	}
	v := view{colors: screen != nil && o.colors(), signs: screen != nil && speaksUTF8(o.getenv)}
	if screen != nil {
		v.width, _ = screen.size()
	}
	if _, err := io.WriteString(out, v.text(report)); err != nil {
		return outputError{err}
	}
	return nil
}

var errNotLeader = errors.New("this process of the controller is not the leader, and only the leader has a report: forward the port of the pod that holds the Lease, or use --forward")

// printJSON prints the report. Control characters are escaped, also those that JSON does not escape.
func printJSON(out io.Writer, report *clusterreport.Report) error {
	w := printable.NewWriter(out)
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := errors.Join(encoder.Encode(report), w.Flush()); err != nil {
		return outputError{err}
	}
	return nil
}
