package simulate

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/scheduling"
)

// Options are the settings that a program passes to the command. The zero value is the program simulate.
type Options struct {
	// DeviceMatcher evaluates selectors of devices. Nil means that pods get no place if their claims or device classes have selectors;
	// the reason names the program to run instead.
	DeviceMatcher scheduling.DeviceMatcher
}

// Main runs the command with the arguments, input and output of the process, until the command ends or the process receives a signal to
// end. It returns the exit status.
func Main(o Options) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals) // a second one ends the process at once
		cancel(ErrInterrupted)
	}()
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, o)
}

// Run is the command: it reads args, without the program's name, and returns the exit status. Its output can't control the terminal. It
// ends early when ctx ends, with the cause in its message.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, o Options) int {
	if ctx == nil || stdin == nil || stdout == nil || stderr == nil {
		return exitInput // there may be nowhere to say why
	}
	out, messages := printable.NewWriter(stdout), printable.NewWriter(stderr)
	code := command(ctx, args, stdin, out, messages, o)
	if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitPlaced {
		return exitOutput
	}
	return code
}
