package main

import (
	"os"

	"github.com/drawknife/drawknife/internal/interrupt"
)

func main() {
	os.Exit(interrupt.Run("convert", os.Stderr, func(done *interrupt.Done) int {
		return run(os.Args[1:], os.Stdin, done.Printing(os.Stdout), os.Stderr)
	}))
}
