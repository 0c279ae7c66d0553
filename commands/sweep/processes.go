package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// stopWait is how long a shard may go on after it was asked to stop.
const stopWait = 10 * time.Second

// processes runs shards as processes on this computer.
type processes struct {
	// program is the path of the program and its first arguments. The command shard and its arguments are appended to them.
	program []string
	shards  int
	// parallel is how many run at a time. retries is how often a shard is started again that ends with a failure.
	parallel, retries int
	messages          io.Writer
	mu                sync.Mutex // guards messages
}

// run runs all shards. Its error names the shards that fail more often than retries allow; the others run on.
func (p *processes) run(ctx context.Context, grid, results string) error {
	var group errgroup.Group
	group.SetLimit(p.parallel)
	failures := make([]error, p.shards)
	for i := range p.shards {
		group.Go(func() error {
			failures[i] = p.shard(ctx, i, []string{"sweep", "shard", "--results=" + results, "--shards=" + strconv.Itoa(p.shards), "--index=" + strconv.Itoa(i), "--", grid})
			return nil
		})
	}
	_ = group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errors.Join(failures...)
}

// shard runs one shard, and starts it again if it fails.
func (p *processes) shard(ctx context.Context, index int, arguments []string) error {
	for attempt := 0; ; attempt++ {
		err := p.once(ctx, arguments)
		var exited *exec.ExitError
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case errors.As(err, &exited) && exited.ExitCode() == exitInput, attempt == p.retries:
			return fmt.Errorf("shard %d: %w", index, err)
		}
		p.printf("shard %d: %s: starting it again\n", index, err)
	}
}

// once runs the process of a shard to its end.
func (p *processes) once(ctx context.Context, arguments []string) error {
	c := exec.CommandContext(ctx, p.program[0], slices.Concat(p.program[1:], arguments)...)
	c.Cancel = func() error { return c.Process.Signal(stopSignal()) }
	c.WaitDelay = stopWait
	c.Stdout, c.Stderr = io.Discard, lines{p}
	return c.Run()
}

func (p *processes) printf(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.messages, format, args...)
}

// lines writes the messages of processes one write at a time.
type lines struct{ p *processes }

func (l lines) Write(text []byte) (int, error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	return l.p.messages.Write(text)
}
