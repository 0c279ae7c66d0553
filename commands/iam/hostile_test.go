//go:build linux || darwin

package iam

import (
	"os"
	"testing"

	"github.com/drawknife/drawknife/internal/hostile"
)

// Whatever a folder or a setting is called, it steers no terminal.
func TestHostileNames(t *testing.T) {
	const given = "--region eu-central-1 --account-id 111122223333 --node-roles demo-nodes"
	hostile.RunNames(t, "TestHostileChild", os.Getenv("DRAWKNIFE_HOSTILE") == "all", given+" --cluster-name demo --out FILE", given+" --cluster-name demo --out FILE/x", given+" --cluster-name FILE",
		given+" --cluster-name demo --oidc-issuer https://FILE -o json", given+" --cluster-name demo --queue FILE", "FILE")
}

// TestHostileChild is the process that is given one of them.
func TestHostileChild(*testing.T) {
	if args, ok := hostile.Child(); ok {
		os.Exit(run(args, os.Stdout, os.Stderr, func(string) {}))
	}
}
