// Package command is the program simulate, for programs that hand it what its module can't import: scheduling/dra/simulate hands it what
// evaluates selectors of devices. The package comment of examples/simulate says what the program does and what it prints.
//
//	os.Exit(command.Main(command.Options{DeviceMatcher: dra.New()}))
//
// Stability: alpha.
package command
