package seeded

import (
	"os"
	"testing"
)

// Long reports whether tests run in their long form, as before a release: DRAWKNIFE_LONG=all is in the environment, and -short is not
// given. The usual form takes some minutes for the whole repository. The long form takes several times as long.
func Long() bool {
	return os.Getenv("DRAWKNIFE_LONG") == "all" && !testing.Short()
}

// Draws returns how often rapid draws inputs for a slow property. This is the number few in the usual form of the tests, and the number all
// in the long form.
func Draws(few, all int) int {
	if Long() {
		return all
	}
	return few
}
