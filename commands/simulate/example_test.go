package simulate_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/drawknife/drawknife/commands/simulate"
)

// A program of one's own answers to the same flags.
func Example() {
	status := simulate.Run(context.Background(), []string{"--version"}, strings.NewReader(""), io.Discard, os.Stderr, simulate.Options{})
	fmt.Println("exit status", status)
	// Output: exit status 0
}
