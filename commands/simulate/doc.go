// Package simulate has the commands that plan: plan, consolidate, diff, drain and replay for a program with subcommands, such as
// examples/drawknife, and all of them as the program examples/simulate, where a flag selects the command. The package comment of
// examples/simulate documents what they read and print.
//
// A program passes them the code that their module can't import: scheduling/dra/simulate passes the code that evaluates selectors of
// devices.
//
//	os.Exit(simulate.Main(simulate.Options{DeviceMatcher: dra.New()}))
//
// Stability: beta.
package simulate
