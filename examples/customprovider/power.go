package customprovider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Boot contains the settings that the kubelet of a machine needs to join as a node.
type Boot struct {
	// ProviderID is --provider-id.
	ProviderID string
	// Labels are --node-labels, as key=value.
	Labels []string
	// Taints are --register-with-taints, as key=value:Effect.
	Taints []string
}

// Power switches machines. Each call may be repeated: switching on a running machine, or switching off a machine that is off, is no error.
// All methods are safe for concurrent use. They return soon after ctx has ended; before that, they may take any time.
type Power interface {
	// On switches the machine on, so that it joins the cluster with these settings.
	On(ctx context.Context, machine string, boot Boot) error
	// Off starts to switch the machine off, and does not wait for it.
	Off(ctx context.Context, machine string) error
	// IsOff reports whether the machine is off.
	IsOff(ctx context.Context, machine string) (bool, error)
}

// Command is a Power that runs a program:
//
//	PATH on MACHINE      with PROVIDER_ID, NODE_LABELS and NODE_TAINTS, lists with commas, in its environment
//	PATH off MACHINE
//	PATH status MACHINE  which prints on or off
//
// A status other than 0 is an error; its message is the program's standard error.
type Command struct {
	Path string
}

// On runs PATH on MACHINE.
func (c Command) On(ctx context.Context, machine string, boot Boot) error {
	_, err := c.run(ctx, "on", machine,
		"PROVIDER_ID="+boot.ProviderID, "NODE_LABELS="+strings.Join(boot.Labels, ","), "NODE_TAINTS="+strings.Join(boot.Taints, ","))
	return err
}

// Off runs PATH off MACHINE.
func (c Command) Off(ctx context.Context, machine string) error {
	_, err := c.run(ctx, "off", machine)
	return err
}

// IsOff runs PATH status MACHINE.
func (c Command) IsOff(ctx context.Context, machine string) (bool, error) {
	out, err := c.run(ctx, "status", machine)
	if err != nil {
		return false, err
	}
	switch out {
	case "on", "off":
		return out == "off", nil
	}
	return false, fmt.Errorf("%s status %s printed %q: it must be on or off", c.Path, machine, out)
}

// run runs the program and returns its output. The program is killed when ctx ends; run does not wait for child processes that the program
// started.
func (c Command) run(ctx context.Context, verb, machine string, env ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Path, verb, machine)
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = 100 * time.Millisecond
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		const most = 500
		words := strings.TrimSpace(stderr.String())
		if words == "" {
			return "", fmt.Errorf("%s %s %s: %w", c.Path, verb, machine, err)
		}
		return "", errors.Join(fmt.Errorf("%s %s %s: %w", c.Path, verb, machine, err), errors.New(words[:min(most, len(words))]))
	}
	return strings.TrimSpace(stdout.String()), nil
}
