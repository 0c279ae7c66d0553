package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/scheduling"
)

// karpenter runs the program of internal/bench/karpenter.
type karpenter struct {
	program, version, folder string
	timeout                  time.Duration
	runs                     int
}

// newKarpenter builds the program of internal/bench/karpenter into folder if the parameter program is "run". Otherwise the parameter
// program is the name of a built program.
func newKarpenter(ctx context.Context, program, folder string, stderr io.Writer) (*karpenter, error) {
	if program == "run" {
		source := "karpenter"
		if _, err := os.Stat(filepath.Join(source, "go.mod")); err != nil {
			source = filepath.Join("..", "karpenter")
		}
		program = filepath.Join(folder, "karpenter")
		fmt.Fprintln(stderr, "corpus: building internal/bench/karpenter (minutes the first time)")
		build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
		build.Dir, build.Env = source, append(os.Environ(), "GOTOOLCHAIN=auto") // building Karpenter may need a newer version of Go
		if said, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building internal/bench/karpenter (run from internal/bench): %w: %s", err, strings.TrimSpace(string(said)))
		}
	}
	version, err := exec.CommandContext(ctx, program, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("asking %s for its version: %w", program, err)
	}
	return &karpenter{program, strings.TrimSpace(string(version)), folder, 15 * time.Minute, 1}, nil
}

// plan plans a workload with Karpenter, checks the plan with the judge, and returns the result. It returns nil if planning took longer than
// the timeout.
func (k *karpenter) plan(ctx context.Context, s *scheduling.Snapshot, j *judge.Judge) (*karpenterRecord, error) {
	name := filepath.Join(k.folder, "workload.json")
	if err := save(name, s); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	var result *karpenterResult
	var times []float64
	for range k.runs {
		var err error
		if result, err = k.once(ctx, name); err != nil || result == nil {
			return nil, err
		}
		times = append(times, result.CPUSeconds)
	}
	slices.Sort(times)
	v := j.Check(&result.Plan)
	return &karpenterRecord{k.version, rounded(v.HourlyCost), rounded(times[len(times)/2]), v.Nodes, v.Unschedulable, len(v.Refusals)}, nil
}

// karpenterResult is what the program prints.
type karpenterResult struct {
	CPUSeconds float64 `json:"cpuSeconds"`
	judge.Plan
}

// once plans the workload in a file with Karpenter. It returns nil if the deadline of ctx has passed.
func (k *karpenter) once(ctx context.Context, name string) (*karpenterResult, error) {
	said, err := exec.CommandContext(ctx, k.program, name).Output()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, nil
	}
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
		}
		return nil, fmt.Errorf("planning with Karpenter: %w", err)
	}
	result := &karpenterResult{}
	if err := json.Unmarshal(said, result); err != nil {
		return nil, fmt.Errorf("reading Karpenter's plan: %w", err)
	}
	return result, nil
}

func save(name string, s *scheduling.Snapshot) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(file)
	return errors.Join(s.EncodeJSON(b), b.Flush(), file.Close())
}
