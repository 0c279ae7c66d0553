package global

import (
	"time"

	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Options are the options of disruption.Global. The defaults are filled in, so 0 does not stand for a default.
type Options struct {
	Query               planning.Query
	PayBack             time.Duration
	MinSaving           float64
	MinSavingShare      float64
	DisruptionPrice     float64
	CoolDown            time.Duration
	SpotToSpot          bool
	SpotToSpotTypes     int
	MaxMembers, MaxBins int
	// MaxMerged applies to fleets that are searched thoroughly. It is the largest number of nodes that a command with at most one new node
	// may remove.
	MaxMerged             int
	Work                  int
	Parallelism           int
	Robustness            int
	Checks                int
	Seed                  uint64
	LaunchTime, ReadyTime time.Duration
	DrainLimit            time.Duration
	ExpireAhead           time.Duration
	ValidationDelay       time.Duration
}

// Reference returns the options for the work that both planners share.
func (g *Options) Reference() *reference.Options {
	return &reference.Options{
		Query: g.Query, SpotToSpot: g.SpotToSpot, SpotToSpotTypes: g.SpotToSpotTypes, ValidationDelay: g.ValidationDelay,
	}
}
