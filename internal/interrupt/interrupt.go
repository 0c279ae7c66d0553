// Package interrupt ends a command when its user interrupts it, and prints which output the command has written so far. It is for commands
// that read, compute and then write, and that need not release resources at the end.
package interrupt

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// Status is the exit status of an interrupted command. Shells use the same status.
const Status = 130

// Done records which output a command has written so far. The zero value means that nothing was written. Done is safe for concurrent use.
type Done struct {
	mu      sync.Mutex
	printed bool
	files   []string
}

// Wrote records that a file is complete.
func (d *Done) Wrote(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files = append(d.files, name)
}

// Printing returns a writer that writes to w, and records in d that something was printed.
func (d *Done) Printing(w io.Writer) io.Writer { return printing{w, d} }

type printing struct {
	io.Writer
	done *Done
}

func (p printing) Write(text []byte) (int, error) {
	p.done.mu.Lock()
	p.done.printed = true
	p.done.mu.Unlock()
	return p.Writer.Write(text)
}

// String says what was written and printed.
func (d *Done) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var parts []string
	if len(d.files) > 0 {
		parts = append(parts, fmt.Sprintf("complete are %q, other files are not written", d.files))
	}
	if d.printed {
		parts = append(parts, "what was printed is not complete")
	}
	if len(parts) == 0 {
		return "nothing was written"
	}
	return strings.Join(parts, "; ")
}

// Run runs a command and returns its exit status. On SIGINT or SIGTERM, Run prints on stderr what was done, and returns Status. At that
// time the command may still be running, so the program must exit with the returned status.
func Run(name string, stderr io.Writer, command func(*Done) int) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	return run(name, stderr, signals, command)
}

func run(name string, stderr io.Writer, signals <-chan os.Signal, command func(*Done) int) int {
	return await(name, stderr, signals, command)
}

// Until runs a command and returns its exit status. If ctx ends first, Until prints on stderr what was done, and returns Status. At that
// time the command may still be running. Until is for programs that handle the signal themselves and then end ctx.
func Until(ctx context.Context, name string, stderr io.Writer, command func(*Done) int) int {
	return await(name, stderr, ctx.Done(), command)
}

func await[T any](name string, stderr io.Writer, stop <-chan T, command func(*Done) int) int {
	done, ended := &Done{}, make(chan int, 1)
	go func() { ended <- command(done) }()
	select {
	case code := <-ended:
		return code
	case <-stop:
	}
	fmt.Fprintf(stderr, "%s: interrupted: %s\n", name, done)
	return Status
}
