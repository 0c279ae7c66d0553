package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/capacityblocks"
)

func main() {
	os.Exit(capacityblocks.Main(capacityblocks.Options{}))
}
