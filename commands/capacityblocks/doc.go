// Package capacityblocks is the command that finds capacity blocks, shows their prices, and buys one if the buyer repeats what was offered.
// A program runs it with Main, or makes it one of its commands with New:
//
//	os.Exit(capacityblocks.Main(capacityblocks.Options{}))
//
// Without --buy it only reads. With --buy it looks once more for the offering with that ID, and buys it if its price is still the one given
// with --fee.
//
// Stability: beta.
package capacityblocks
