// Command simulate does what examples/simulate does, with the same flags and inputs. It also evaluates selectors of devices, to plan pods
// that claim devices of Dynamic Resource Allocation.
//
//	go build -C scheduling/dra -o "$PWD/simulate-dra" ./simulate
//	./simulate-dra --device-drivers nvidia=gpu.nvidia.com deploy/
//
// Built with -tags aws, it also accepts --provider aws, which reads instance types and prices from AWS.
package main

import (
	"os"

	"github.com/drawknife/drawknife/commands/simulate"
	"github.com/drawknife/drawknife/scheduling/dra"
)

func main() {
	os.Exit(simulate.Main(simulate.Options{DeviceMatcher: dra.New()}))
}
