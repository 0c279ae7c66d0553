package limits

import "fmt"

// Phase is how far a node has come.
type Phase int

// The phases, in the order in which a node goes through them.
const (
	// Planned: reserved, nothing exists yet.
	Planned Phase = iota
	// Launching: its NodeClaim exists, and its instance may exist.
	Launching
	// Live: its instance exists.
	Live
	// Leaving: it is being removed. It no longer counts against limits, so that its replacement can be launched before
	// it is gone.
	Leaving
)

// String returns the phase in lower case.
func (p Phase) String() string {
	switch p {
	case Planned:
		return "planned"
	case Launching:
		return "launching"
	case Live:
		return "live"
	case Leaving:
		return "leaving"
	}
	return fmt.Sprintf("Phase(%d)", int(p))
}

// counts reports whether a node in the phase counts against its pool's limits.
func (p Phase) counts() bool { return p != Leaving }
