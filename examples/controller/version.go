package main

import "slices"

// asksVersion reports whether the command line asks for the version, which needs no settings.
func asksVersion(args []string) bool {
	return slices.Contains(args, "--version") || slices.Contains(args, "-version")
}
