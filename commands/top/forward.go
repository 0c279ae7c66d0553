package top

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"
)

// forwardTimeout is how long kubectl may take until it listens.
const forwardTimeout = 30 * time.Second

// forward says how kubectl forwards a local port to the controller.
type forward struct {
	on                                            bool
	namespace, context, kubeconfig, lease, target string
	port                                          int
	// kubectl is the path of the program; if empty, it is searched in the folders of PATH.
	kubectl string
}

// tunnel is a running "kubectl port-forward".
type tunnel struct {
	url  string
	stop context.CancelFunc
	// done is closed when kubectl has ended, and err is then the reason.
	done chan struct{}
	err  error
}

// close ends kubectl.
func (t *tunnel) close() {
	t.stop()
	<-t.done
}

// ended returns an error if kubectl has ended.
func (t *tunnel) ended() error {
	select {
	case <-t.done:
		return t.err
	default:
		return nil
	}
}

// listening is the line by which kubectl says on which local port it listens.
var listening = regexp.MustCompile(`(?m)^Forwarding from 127\.0\.0\.1:([0-9]{1,5}) -> `)

// podOf is the identity of a Lease's holder: the name of a pod, and a random suffix.
var podOf = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)_`)

// open starts kubectl, and waits until it listens.
func (f *forward) open(ctx context.Context) (*tunnel, error) {
	own, stop := context.WithCancel(ctx)
	command := f.command(own, "port-forward", f.findTarget(ctx), fmt.Sprintf(":%d", f.port), "--address=127.0.0.1")
	messages := &tail{}
	command.Stderr = messages
	command.WaitDelay = 2 * time.Second
	out := &portReader{port: make(chan string, 1)}
	command.Stdout = out
	if err := command.Start(); err != nil {
		stop()
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("--forward needs kubectl, which is in no folder of PATH: install it, or forward the port in another way and give --url: %w", err)
		}
		return nil, fmt.Errorf("kubectl port-forward: %w", err)
	}
	t := &tunnel{stop: stop, done: make(chan struct{})}
	go func() {
		err := command.Wait()
		if err == nil {
			err = errors.New("it has ended")
		}
		t.err = fmt.Errorf("kubectl port-forward: %w: %s", err, messages)
		close(t.done)
	}()
	timeout := time.NewTimer(forwardTimeout)
	defer timeout.Stop()
	select {
	case p := <-out.port:
		t.url = "http://127.0.0.1:" + p
		return t, nil
	case <-t.done:
		stop()
		return nil, t.err
	case <-timeout.C:
		t.close()
		return nil, fmt.Errorf("kubectl port-forward does not listen after %s: %s", forwardTimeout, messages)
	}
}

// portReader finds the local port in the beginning of kubectl's output, and ignores the rest.
type portReader struct {
	// port receives the port, once.
	port  chan string
	data  []byte
	found bool
}

func (r *portReader) Write(data []byte) (int, error) {
	if r.found || len(r.data) > maxTail {
		return len(data), nil
	}
	r.data = append(r.data, data...)
	if found := listening.FindSubmatch(r.data); found != nil {
		r.found = true
		r.port <- string(found[1])
	}
	return len(data), nil
}

// findTarget returns the pod of the leader, or the target of the flags if the Lease can't be read or names no pod.
func (f *forward) findTarget(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, forwardTimeout)
	defer cancel()
	command := f.command(ctx, "get", "lease", f.lease, "-o", "jsonpath={.spec.holderIdentity}")
	command.WaitDelay = time.Second
	out := &tail{}
	command.Stdout = out
	if err := command.Run(); err != nil {
		return f.target
	}
	if pod := podOf.FindStringSubmatch(out.String()); pod != nil {
		return "pod/" + pod[1]
	}
	return f.target
}

func (f *forward) command(ctx context.Context, args ...string) *exec.Cmd {
	program := f.kubectl
	if program == "" {
		program = "kubectl"
	}
	args = append(args, "--namespace="+f.namespace)
	if f.context != "" {
		args = append(args, "--context="+f.context)
	}
	if f.kubeconfig != "" {
		args = append(args, "--kubeconfig="+f.kubeconfig)
	}
	return exec.CommandContext(ctx, program, args...)
}

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const maxTail = 4096

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, data...)
	t.data = bytes.Clone(t.data[max(0, len(t.data)-maxTail):])
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.data))
}
