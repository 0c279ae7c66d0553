package simulate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// errWithoutAWS says what to do about a program that can't ask AWS.
var errWithoutAWS = errors.New("--provider aws: this program was built without the AWS SDK, which takes longer to compile than everything else")

// relay runs the command line with the program siblingName in the same folder, which contains the AWS SDK. The program is only searched
// in that folder, not in the search path, and not where this program was built. Its exit status is returned.
func relay(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("%w; cannot find the folder of this program: %w", errWithoutAWS, err)
	}
	program := filepath.Join(filepath.Dir(self), siblingName())
	info, err := os.Stat(program)
	if own, failed := os.Stat(self); err == nil && failed == nil && os.SameFile(info, own) { // otherwise it would run itself forever
		return 0, fmt.Errorf("%w, though its name is %s: build it with: go build -tags aws -o %q ./examples/simulate", errWithoutAWS, siblingName(), program)
	}
	if err != nil || !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%w; run it with: go run -tags aws ./examples/simulate, or put the program with it next to this one, "+
			"as it is next to each release, with: go build -tags aws -o %q ./examples/simulate", errWithoutAWS, program)
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	if runtime.GOOS == "windows" {
		command.Cancel = func() error { return command.Process.Kill() } // this platform cannot interrupt a process
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
