package main

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/drawknife/drawknife/examples/controller/reconcilers"
)

// asksVersion reports whether the command line asks what the program is, which needs no settings.
func asksVersion(args []string) bool {
	return slices.Contains(args, "--version") || slices.Contains(args, "-version")
}

// version is a line that says what the program was built from.
func version() string {
	release, commit := reconcilers.Build()
	return fmt.Sprintf("drawknife controller %s (commit %s, %s %s/%s)\n", release, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
