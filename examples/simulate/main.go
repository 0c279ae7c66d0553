package main

import (
	"os"

	"github.com/drawknife/drawknife/examples/simulate/command"
)

func main() {
	os.Exit(command.Main(command.Options{}))
}
