package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/verifymigration"
)

func main() { os.Exit(verifymigration.Main()) }
