package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/iam"
)

func main() {
	os.Exit(iam.Main())
}
