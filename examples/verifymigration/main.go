package main

import (
	"os"

	"github.com/drawknife/drawknife/examples/verifymigration/command"
)

func main() { os.Exit(command.Main()) }
