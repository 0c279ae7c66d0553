package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// errWithoutAWS says what to do about a program that can't ask AWS and can't be built anew.
var errWithoutAWS = errors.New("--provider aws: this program was built without the AWS SDK and its source is not at hand to build it with; " +
	"build it with: go build -tags aws github.com/drawknife/drawknife/examples/simulate")

// relay runs the command line by this same program, built with the AWS SDK from the source that this one was built from. The
// result is kept in the user's cache folder, so that it is built anew only when the source has changed. The exit status is
// that program's.
func relay(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	source, err := sourceFolder()
	if err != nil {
		return 0, err
	}
	program, err := programFile(source)
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(program); err != nil {
		fmt.Fprintln(stderr, "simulate: building the part that asks AWS; the first time this takes a minute or more")
	}
	build := exec.CommandContext(ctx, "go", "build", "-tags", "aws", "-o", program, ".")
	build.Dir = source
	if output, err := build.CombinedOutput(); err != nil {
		if len(output) > 0 {
			err = fmt.Errorf("%w: %s", err, output)
		}
		return 0, fmt.Errorf("%w (%w)", errWithoutAWS, err)
	}
	command := exec.CommandContext(ctx, program, args...)
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

// sourceFolder is where this program's source is, if it is still where it was compiled.
func sourceFolder() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return "", errWithoutAWS
	}
	if _, err := os.Stat(file); err != nil {
		return "", fmt.Errorf("%w (%w)", errWithoutAWS, err)
	}
	return filepath.Dir(file), nil
}

// programFile is where the program with the AWS SDK is kept: one for each source folder.
func programFile(source string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("--provider aws: no folder for a program: %w", err)
	}
	folder := filepath.Join(cache, "drawknife")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("--provider aws: %w", err)
	}
	name := fmt.Sprintf("simulate-aws-%x", sha256.Sum256([]byte(source)))[:29]
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(folder, name), nil
}
