package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/drawknife/drawknife/internal/e2e/harness"
)

// server is the control plane of all tests here but those of batchServer.
var server harness.Server

func TestMain(m *testing.M) {
	if os.Getenv(orphanVariable) != "" {
		os.Exit(orphan())
	}
	code := m.Run()
	if err := errors.Join(server.Stop(), batchServer.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the control planes:", err)
		code = max(code, 1)
	}
	if err := removePrograms(programBuilt); err != nil {
		fmt.Fprintln(os.Stderr, "removing the controller's program:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}
