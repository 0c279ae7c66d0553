package moto

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/drawknife/drawknife/internal/ports"
)

// ProgramVariable is the environment variable with the path of the moto_server to start.
const ProgramVariable = "DRAWKNIFE_MOTO"

// startTimeout is the maximum time until moto's first answer. It is long enough for a busy computer.
const startTimeout = 2 * time.Minute

// Server is one moto process that all tests of a package share. The zero value is ready for use and has not started a process.
type Server struct {
	mu      sync.Mutex
	command *exec.Cmd
	ended   chan struct{}
	target  *url.URL
	failed  error
	facts   facts
}

// Start returns an empty cloud for a test. The first call starts the process. Start skips the test with a message if no moto_server is
// installed, or if the test runs with -short. Tests that use one server can't run in parallel.
func (s *Server) Start(t testing.TB) *Cloud {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server; not with -short")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command == nil && s.failed == nil {
		program, err := program()
		if err != nil {
			t.Skip(err)
		}
		s.failed = s.launch(t.Context(), program)
	}
	if s.failed != nil {
		t.Fatalf("starting moto: %v", s.failed)
	}
	response, err := http.Post(s.target.JoinPath("moto-api", "reset").String(), "", nil)
	if err != nil {
		t.Fatalf("resetting moto: %v", err)
	}
	_ = response.Body.Close()
	if s.facts.answers == nil {
		s.facts.answers = map[string]Answer{}
	}
	return newCloud(t, s.target, &s.facts)
}

// program returns the path of moto_server.
func program() (string, error) {
	named := os.Getenv(ProgramVariable)
	if named == "" {
		return "", fmt.Errorf("needs a moto server: \".ci/run moto_integration\" installs one, or set %s to the moto_server of pip install 'moto[server]'", ProgramVariable)
	}
	if _, err := os.Stat(named); err != nil {
		return "", fmt.Errorf("%s: %w", ProgramVariable, err)
	}
	return named, nil
}

// launch starts the process on a free port of the loopback interface, and waits until the process answers. It takes seconds until the
// process listens on the port, and no other process may get the port in the meantime.
func (s *Server) launch(ctx context.Context, program string) error {
	free, err := ports.Free(1)
	if err != nil {
		return err
	}
	port := strconv.Itoa(free[0])
	s.target = &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", port)}
	// The process runs longer than the test that starts it. Therefore no context ends it. The method stop ends it.
	s.command = exec.Command(program, "-H", "127.0.0.1", "-p", port)
	ownGroup(s.command)
	if err := s.command.Start(); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = s.command.Wait()
	}()
	return s.ready(ctx)
}

// ready waits until the server answers.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.target.String(), nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			return response.Body.Close()
		}
		select {
		case <-poll.C:
		case <-s.ended:
			return errors.New("the process exited before it answered")
		case <-ctx.Done():
			return fmt.Errorf("no answer after %s: %w", startTimeout, ctx.Err())
		}
	}
}

// Run runs the tests of a package for TestMain, and ends the process if the tests started one.
func (s *Server) Run(m *testing.M) (code int) {
	defer s.stop()
	return m.Run()
}

// stop ends the process if it was started.
func (s *Server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command != nil && s.command.Process != nil {
		_ = endGroup(s.command)
		<-s.ended
	}
}
