package simulate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrInterrupted is the cause of a context that ends because the user interrupted the program: pass it to the cancel function of
// context.WithCancelCause. The command then prints which files were already written, and returns the status 130.
var ErrInterrupted = errors.New("interrupted")

// errTimeout is the cause with which the context of a run ends after --timeout.
var errTimeout = errors.New("gave up")

// statusError is an error with the exit status of the program.
type statusError struct {
	status int
	cause  error
}

// withStatus gives an error an exit status, unless it is nil.
func withStatus(status int, err error) error {
	if err == nil {
		return nil
	}
	return &statusError{status, err}
}

func (e *statusError) Error() string { return e.cause.Error() }
func (e *statusError) Unwrap() error { return e.cause }

// statusOf returns the exit status of a run that failed.
func statusOf(ctx context.Context, err error) int {
	cause := context.Cause(ctx)
	var status *statusError
	switch {
	case errors.Is(cause, ErrInterrupted):
		return exitInterrupted
	case errors.Is(cause, errTimeout):
		return exitTimeout
	case errors.As(err, &status):
		return status.status
	}
	return exitInput
}

// outcome records the files that a run has written, for a person who interrupts the run.
type outcome struct {
	mu      sync.Mutex
	written []string
}

// wrote records that a file is complete.
func (o *outcome) wrote(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written = append(o.written, name)
}

// String returns a text that says which files were written.
func (o *outcome) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch len(o.written) {
	case 0:
		return "nothing was written"
	case 1:
		return o.written[0] + " was written, and nothing else"
	}
	return fmt.Sprintf("%q were written, and nothing else", o.written)
}

// patience is how long await waits for an aborted run to end. It is limited, because reading and compiling don't check whether the run was
// aborted.
const patience = 2 * time.Second

// ending is the exit status and the error of a run.
type ending struct {
	code int
	err  error
}

// await runs the simulation until it ends, or until patience has passed after ctx was cancelled. In the second case, the process ends while
// the simulation still runs.
func (s *simulation) await(ctx context.Context) ending {
	done := make(chan ending, 1)
	go func() {
		code, err := s.run(ctx)
		done <- ending{code, err}
	}()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-done:
		return a
	case <-timer.C:
		s.abandoned = true
		return ending{err: ctx.Err()}
	}
}
