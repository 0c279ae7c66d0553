package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/simulate"
)

func main() {
	os.Exit(simulate.Main(simulate.Options{}))
}
