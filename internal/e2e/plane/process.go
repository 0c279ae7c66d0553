package plane

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// parentPipe makes a component exit when its standard input ends. See internal/e2e/controlplane.
const parentPipe = "CONTROLPLANE_PARENT_PIPE"

// stopTimeout is how long a component may take to end after it was asked to end. On an idle computer this takes some tenths of a second.
const stopTimeout = time.Minute

// process is a running component.
type process struct {
	name    string
	command *exec.Cmd
	pipe    io.Closer
	// done is closed when the process has ended. ended is then the result.
	done  chan struct{}
	ended error
}

// startProcess starts a component and appends its output to a log. It calls gone when the process has ended for any reason. gone may be
// nil.
func startProcess(binary, dir, log, name string, flags []string, gone func(*process)) (*process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }()
	command := exec.Command(binary, append([]string{name}, flags...)...)
	command.Dir, command.Stdout, command.Stderr = dir, output, output
	command.Env = append(os.Environ(), parentPipe+"=1")
	ownGroup(command)
	pipe, err := command.StdinPipe() // nothing is written to this pipe, and the kernel closes it when this process ends for any reason
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p := &process{name: name, command: command, pipe: pipe, done: make(chan struct{})}
	go func() {
		p.ended = command.Wait()
		close(p.done)
		if gone != nil {
			gone(p)
		}
	}()
	return p, nil
}

// terminate asks the process to end.
func (p *process) terminate() { askToEnd(p) }

// wait waits until the process has ended. If this takes too long, it kills the process and returns an error.
func (p *process) wait() error {
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
		p.kill()
		return fmt.Errorf("%s did not end within %s and was killed", p.name, stopTimeout)
	}
}

// kill ends the process at once, without a clean-up.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.done
}
