package seeded

import (
	"os"
	"testing"
)

// Long reports whether tests run in their long form, as they do before a release: with DRAWKNIFE_LONG=all in the environment, and
// without -short. The usual form takes some minutes for the whole repository; the long one takes a multiple of that.
func Long() bool {
	return os.Getenv("DRAWKNIFE_LONG") == "all" && !testing.Short()
}

// Draws returns how many draws a property gets that takes long: few, or all of them in the long form.
func Draws(few, all int) int {
	if Long() {
		return all
	}
	return few
}
