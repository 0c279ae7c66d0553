package capacityblocks

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	blocks "github.com/drawknife/drawknife/aws/capacityblocks"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/internal/spelling"
)

// Options are the settings that a program passes to the command. The program capacityblocks uses the zero value.
type Options struct {
	// Connect returns a client of EC2 for a region; empty means the region of the environment. Nil means sdk.Load, with the credentials of
	// the environment.
	Connect func(ctx context.Context, region string) (sdk.EC2CapacityBlockAPI, error)
}

// These are the exit statuses.
const (
	exitDone = iota
	exitNone
	exitUsage
	exitAWS
	exitRefused
	exitOutput
	exitInterrupted = 130
)

var errInterrupted = errors.New("interrupted")

// New returns the command.
func New(o Options) commands.Command {
	return commands.Command{
		Name: "capacity-blocks", Summary: "Find capacity blocks of EC2 with their prices, and buy one after approval",
		Help: `capacity-blocks lists the blocks of GPU and Trainium instances that EC2 offers now, the cheapest first. It only reads.

With --buy ID it buys the offering with that ID. EC2 charges the whole price at once, and a block can't be given back.
So the purchase has to be approved word for word: --fee repeats the price that was shown, and --approved-by names who
approved it. Look for the block with the same --instance-type, --instances and --hours. If EC2 offers it no longer, or
at another price, nothing is bought. The block's capacity reservation, cr-..., is the last line of the output;
capacityReservationSelectorTerms of an EC2NodeClass select it.`,
		Examples: `drawknife capacity-blocks --instance-type p5.48xlarge --instances 2 --hours 48
drawknife capacity-blocks --instance-type p5.48xlarge --instances 2 --hours 48 -o json
drawknife capacity-blocks --instance-type p5.48xlarge --instances 2 --hours 48 --buy cb-0123 --fee 3020.16 --approved-by jo@example.com`,
		Exit: []commands.ExitStatus{
			{Code: exitDone, Meaning: "offerings were listed, or the block was bought"},
			{Code: exitNone, Meaning: "EC2 offers no such block"},
			{Code: exitUsage, Meaning: "the flags are wrong"},
			{Code: exitAWS, Meaning: "EC2 could not be called, or refused the purchase"},
			{Code: exitRefused, Meaning: "EC2 does not offer the block as it was approved; nothing was bought"},
			{Code: exitOutput, Meaning: "the output could not be written"},
			{Code: exitInterrupted, Meaning: "the command was interrupted"},
		},
		Begin: func() commands.Run {
			r := newRun(o)
			return commands.Run{Flags: r.flags, Do: r.do}
		},
	}
}

// Main runs the command with the arguments, input and output of the process, until it ends or the process is asked to end. It returns the
// exit status.
func Main(o Options) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // from now on, a second signal ends the process at once
		cancel(errInterrupted)
	}()
	return Run(ctx, os.Args[1:], os.Stdout, os.Stderr, o)
}

// Run is the command for programs without a framework: it reads args, without the program's name, and returns the exit status. Control
// characters in its output are escaped, except in messages about bad flags, so that answers of AWS can't send commands to the terminal. It
// ends early when ctx does.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer, o Options) int {
	if ctx == nil || stdout == nil || stderr == nil {
		return exitUsage // no message: there may be no writer for it
	}
	r := newRun(o)
	switch err := r.flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		if err := writeHelp(stdout, r.flags); err != nil {
			return exitOutput
		}
		return exitDone
	case err != nil:
		fmt.Fprintf(stderr, "capacityblocks: %v\n", spelling.Flag(err, r.flags))
		return exitUsage
	}
	return r.do(ctx, r.flags.Args(), commands.Streams{Out: stdout, Err: stderr})
}

// writeHelp prints the help text, the flags and the exit statuses.
func writeHelp(w io.Writer, flags *flag.FlagSet) error {
	c := New(Options{})
	if _, err := fmt.Fprintf(w, "%s\n\nFlags:\n", c.Help); err != nil {
		return err
	}
	flags.SetOutput(w)
	flags.PrintDefaults()
	_, err := fmt.Fprintln(w, "\nExit status:")
	for _, s := range c.Exit {
		if err == nil {
			_, err = fmt.Fprintf(w, "  %3d  %s\n", s.Code, s.Meaning)
		}
	}
	return err
}

// do runs the command after its flags were parsed, and returns the exit status.
func (r *run) do(ctx context.Context, args []string, streams commands.Streams) int {
	out, messages := printable.NewWriter(streams.Out), printable.NewWriter(streams.Err)
	code := exitDone
	if err := r.answer(ctx, args, out); err != nil {
		code = statusOf(ctx, err)
		fmt.Fprintf(messages, "capacityblocks: %v\n", err)
	}
	if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitDone {
		return exitOutput
	}
	return code
}

// statusOf returns the exit status of a run that failed with err.
func statusOf(ctx context.Context, err error) int {
	var usage *usageError
	var query *blocks.QueryError
	var approval *blocks.ApprovalError
	switch {
	case errors.Is(context.Cause(ctx), errInterrupted):
		return exitInterrupted
	case errors.Is(err, errNone):
		return exitNone
	case errors.As(err, &usage), errors.As(err, &query):
		return exitUsage
	case errors.As(err, &approval), errors.Is(err, errGone):
		return exitRefused
	}
	return exitAWS
}
