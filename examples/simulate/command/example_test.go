package command_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/drawknife/drawknife/examples/simulate/command"
)

// A program of one's own answers to the same flags.
func Example() {
	status := command.Run(context.Background(), []string{"--version"}, strings.NewReader(""), io.Discard, os.Stderr, command.Options{})
	fmt.Println("exit status", status)
	// Output: exit status 0
}
