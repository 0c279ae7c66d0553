// Package version says which sources a command was built from. Every command prints this information for --version:
//
//	fmt.Fprint(stdout, version.Line("simulate")) // drawknife simulate v0.3.0 (commit 0123abc, go1.26.8 linux/amd64)
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// stamped is the version of a released program; empty for others. Package main of internal/release sets it with -ldflags=-X, because the
// program drawknife is in a nested module, which has no version of its own.
var stamped string

// Line returns a readable line with the command's name, the version of the module, the commit that the program was built from, and the
// version of the toolchain. Version and commit are "unknown" if the toolchain did not record them. "-dirty" follows the commit if the files
// of the commit had been changed.
func Line(command string) string {
	release, commit := Build()
	if command != "drawknife" {
		command = "drawknife " + command
	}
	return fmt.Sprintf("%s %s (commit %s, %s %s/%s)\n", command, release, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Build returns the version of the program's module and the commit that the program was built from, in the form of Line. In tests, both are
// "unknown".
func Build() (release, commit string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown", "unknown"
	}
	return of(info)
}

func of(info *debug.BuildInfo) (release, commit string) {
	release, commit = "unknown", "unknown"
	switch {
	case stamped != "":
		release = stamped
	case info.Main.Version != "":
		release = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			commit = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			commit += "-dirty"
		}
	}
	return release, commit
}
