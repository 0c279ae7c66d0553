package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes"

	"github.com/drawknife/drawknife/internal/e2e/plane"
)

// Server is the one control plane for all tests of a package. The zero value is ready to use and has not started anything.
type Server struct {
	// Options are the options of the control plane. The field Binary is set automatically.
	Options plane.Options

	mu     sync.Mutex
	plane  *plane.ControlPlane
	failed error
}

// Plane returns the control plane. The first call starts it. If it is not built, the test is skipped, with a message that says how to build
// it. If the control plane did not start, or has ended since then, the test fails at once.
func (s *Server) Plane(t testing.TB) *plane.ControlPlane {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plane == nil && s.failed == nil {
		binary, err := plane.Binary(t.Context())
		if errors.Is(err, plane.ErrNotBuilt) {
			t.Skip(err)
		}
		if err == nil {
			s.Options.Binary = binary
			s.plane, err = start(t.Context(), s.Options)
		}
		s.failed = err
	}
	if s.failed == nil {
		select {
		case s.failed = <-s.plane.Died():
		default:
		}
	}
	if s.failed != nil {
		t.Fatal(s.failed)
	}
	return s.plane
}

func start(ctx context.Context, options plane.Options) (*plane.ControlPlane, error) {
	p, err := plane.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(p.Config())
	if err == nil {
		err = installCRDs(ctx, p.Config(), client)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("installing CRDs: %w", err), p.Stop())
	}
	return p, nil
}

// Stop stops the control plane, if it runs. TestMain calls it after all tests.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plane == nil {
		return nil
	}
	err := s.plane.Stop()
	s.plane, s.failed = nil, errors.New("the control plane was stopped")
	return err
}
