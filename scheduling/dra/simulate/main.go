// Command simulate does what examples/simulate does, with the same flags and inputs. It also evaluates selectors of devices, to plan pods
// that claim devices of Dynamic Resource Allocation.
//
//	go build -C scheduling/dra -o "$PWD/simulate-dra" ./simulate
//	./simulate-dra --device-drivers nvidia=gpu.nvidia.com deploy/
//
// With -tags aws it also asks AWS for instance types and prices.
package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/simulate"
	"github.com/drawknife/drawknife/scheduling/dra"
)

func main() {
	os.Exit(simulate.Main(simulate.Options{DeviceMatcher: dra.New()}))
}
