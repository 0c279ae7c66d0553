package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// begins is the line that a side prints to standard error when the measured work begins.
const begins = "planning"

// reading is the maximum time that a side may take to read the workload.
const reading = 10 * time.Minute

// side is a program that plans: drawknife's program or Karpenter's program.
type side struct {
	name    string
	version string
	command []string
}

// errCutOff means that a side took longer than the timeout for planning.
var errCutOff = errors.New("cut off")

// run plans the workload in file with this side. It plans as often as the parameter runs says, and returns the result with the least CPU
// time.
func (s *side) run(ctx context.Context, file string, runs int, timeout time.Duration) (*result, error) {
	var best *result
	for range runs {
		r, err := s.once(ctx, file, timeout)
		if err != nil {
			return nil, err
		}
		if best == nil || r.CPUSeconds < best.CPUSeconds {
			best = r
		}
	}
	return best, nil
}

// once runs the program once. If it plans for longer than timeout, it is killed, and the error is errCutOff.
func (s *side) once(ctx context.Context, file string, timeout time.Duration) (*result, error) {
	said, err := s.output(ctx, file, timeout)
	if err != nil {
		return nil, err
	}
	var r result
	if err := json.Unmarshal(said, &r); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", s.name, err)
	}
	return &r, nil
}

// output returns what the program prints to standard output. If the error is errCutOff, it returns what was printed before the program was
// killed.
func (s *side) output(ctx context.Context, file string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var planning atomic.Bool
	limit := time.AfterFunc(reading, func() {
		if planning.Load() {
			cancel(errCutOff)
		} else {
			cancel(fmt.Errorf("%s took longer than %s to read the workload", s.name, reading))
		}
	})
	defer limit.Stop()

	cmd := exec.CommandContext(ctx, s.command[0], append(s.command[1:len(s.command):len(s.command)], file)...)
	var stdout, said bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &lineWriter{&said, func(line string) {
		if line == begins && !planning.Swap(true) {
			limit.Reset(timeout)
		}
	}}
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	limit.Stop()
	if cause := context.Cause(ctx); cause != nil {
		return stdout.Bytes(), cause
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", s.name, err, lastLines(said.String()))
	}
	return stdout.Bytes(), nil
}

// lineWriter stores what is written to it in said, and calls line for each complete line.
type lineWriter struct {
	said *bytes.Buffer
	line func(string)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	before := bytes.LastIndexByte(w.said.Bytes(), '\n') + 1
	w.said.Write(p)
	for {
		rest := w.said.Bytes()[before:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return len(p), nil
		}
		w.line(string(rest[:end]))
		before += end + 1
	}
}

// lastLines returns the last lines of the output of a side that failed, on one line.
func lastLines(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "; ")
}

// oursSide returns drawknife's side, which runs this program again.
func oursSide() (*side, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return &side{name: "drawknife", command: []string{program, planCommand}}, nil
}

// theirsSide returns Karpenter's side. It builds the program of internal/bench/karpenter into folder, unless the parameter program names a
// built program.
func theirsSide(ctx context.Context, program, folder string, stderr io.Writer) (*side, error) {
	if program == "" {
		source, err := findSource()
		if err != nil {
			return nil, err
		}
		program = filepath.Join(folder, "karpenter")
		fmt.Fprintln(stderr, "compare: building internal/bench/karpenter (minutes the first time)")
		build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
		build.Dir, build.Env = source, append(os.Environ(), "GOTOOLCHAIN=auto") // building Karpenter may need a newer version of Go
		if said, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building internal/bench/karpenter: %w: %s", err, lastLines(string(said)))
		}
	}
	version, err := exec.CommandContext(ctx, program, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", program, err)
	}
	return &side{"Karpenter", strings.TrimSpace(string(version)), []string{program}}, nil
}

// findSource returns the folder of internal/bench/karpenter. It works in every folder of the repository.
func findSource() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		for _, candidate := range []string{"karpenter", filepath.Join("internal", "bench", "karpenter")} {
			path := filepath.Join(dir, candidate)
			mod, err := os.Open(filepath.Join(path, "go.mod"))
			if err != nil {
				continue
			}
			line, _ := bufio.NewReader(mod).ReadString('\n')
			mod.Close()
			if strings.HasSuffix(strings.TrimSpace(line), "/internal/bench/karpenter") {
				return path, nil
			}
		}
		if filepath.Dir(dir) == dir {
			return "", errors.New("there is no module internal/bench/karpenter in this folder or one above it: run inside the repository, or give --karpenter")
		}
		dir = filepath.Dir(dir)
	}
}
