package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/drawknife/drawknife/internal/printable"
	"github.com/drawknife/drawknife/scheduling"
)

// Options are the settings that a program passes to the command. The program simulate uses the zero value.
type Options struct {
	// DeviceMatcher evaluates selectors of devices. If it is nil, pods whose claims or device classes have selectors are not planned on any
	// node; the reason names the program to run instead.
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
		signal.Stop(signals) // from now on, a second signal ends the process at once
		cancel(ErrInterrupted)
	}()
	return Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, o)
}

// Run runs the command with the arguments args, without the program's name, and returns the exit status. Control characters in its output
// are escaped, so that the input can't send commands to the terminal. When ctx ends, Run ends early and prints the cause.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, o Options) int {
	if ctx == nil || stdin == nil || stdout == nil || stderr == nil {
		return exitInput // no message: there may be no writer for it
	}
	out, messages := printable.NewWriter(stdout), printable.NewWriter(stderr)
	code := command(ctx, args, stdin, out, messages, o)
	if err := errors.Join(out.Flush(), messages.Flush()); err != nil && code == exitPlaced {
		return exitOutput
	}
	return code
}

// errWithoutAWS says that this program can't call AWS, because it lacks the AWS SDK.
var errWithoutAWS = errors.New("--provider aws: this program was built without the AWS SDK, which takes longer to compile than everything else")

// relay runs the program siblingName, which contains the AWS SDK and is in the same folder, with the same arguments. relay looks for the
// program only in that folder: not in the search path, and not where this program was built. It returns the program's exit status.
func relay(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("%w; cannot find the folder of this program: %w", errWithoutAWS, err)
	}
	program := filepath.Join(filepath.Dir(self), siblingName())
	info, err := os.Stat(program)
	if own, failed := os.Stat(self); err == nil && failed == nil && os.SameFile(info, own) { // the program must not run itself
		return 0, fmt.Errorf("%w, though its name is %s: build it with: go build -tags aws -o %q ./examples/simulate", errWithoutAWS, siblingName(), program)
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%w; run it with: go run -tags aws ./examples/simulate, or put the program with it next to this one, "+
			"as it is next to each release, with: go build -tags aws -o %q ./examples/simulate", errWithoutAWS, program)
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	if runtime.GOOS == "windows" {
		command.Cancel = func() error { return command.Process.Kill() } // Windows cannot interrupt a process
	}
	command.Stdin, command.Stdout, command.Stderr = stdin, stdout, stderr
	err = command.Run()
	var exited *exec.ExitError
	if errors.As(err, &exited) && exited.ExitCode() >= 0 {
		return exited.ExitCode(), nil
	}
	if err != nil {
		return 0, fmt.Errorf("--provider aws: %w", err)
	}
	return exitPlaced, nil
}

// siblingName returns the file name of the program that has the AWS SDK.
func siblingName() string {
	if runtime.GOOS == "windows" {
		return "simulate-aws.exe"
	}
	return "simulate-aws"
}
