package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/convert"
)

func main() {
	os.Exit(convert.Main())
}
