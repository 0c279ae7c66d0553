package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/launchtemplate"
)

func main() {
	os.Exit(launchtemplate.Main())
}
