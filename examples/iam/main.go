package main

import (
	"os"

	"github.com/drawknife/drawknife/internal/interrupt"
)

func main() {
	os.Exit(interrupt.Run("iam", os.Stderr, func(done *interrupt.Done) int {
		return run(os.Args[1:], done.Printing(os.Stdout), os.Stderr, done.Wrote)
	}))
}
