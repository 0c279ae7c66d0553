package spotrisk

import (
	"math"
	"time"

	"github.com/drawknife/drawknife/api/option"
)

// Month is the month that rates of interruptions are given for.
const Month = 730 * time.Hour

// Options of a market. Start from DefaultOptions. All defaults are estimates, as docs/spot.md says.
type Options struct {
	// LevelHalfLife is the age at which a price counts half for the level of prices. More than 0.
	LevelHalfLife time.Duration
	// ReturnHalfLife is the time in which a price comes half of the way back to its level. More than 0.
	ReturnHalfLife time.Duration
	// HistoryHalfLife is the age at which an interruption, a launch or a node's time counts half. More than 0.
	HistoryHalfLife time.Duration
	// PriorInterruptions is how many interruptions of own nodes count as much as the offering's InterruptionRate. More than 0.
	PriorInterruptions float64
	// UnknownRate stands for the InterruptionRate of offerings without one: a share of nodes per month, at least 0 and below 1.
	UnknownRate float64
	// PriorLaunches is how many launches count as much as what is assumed without any. More than 0.
	PriorLaunches float64
}

// DefaultOptions are a week for the level, two days for prices to return, 30 days for the history, four interruptions and five launches
// against what is assumed without any, and 15 % interruptions per month where no rate is known.
func DefaultOptions() Options {
	return Options{
		LevelHalfLife: 7 * 24 * time.Hour, ReturnHalfLife: 48 * time.Hour, HistoryHalfLife: 30 * 24 * time.Hour,
		PriorInterruptions: 4, UnknownRate: 0.15, PriorLaunches: 5,
	}
}

func (o Options) check() error {
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"LevelHalfLife", o.LevelHalfLife}, {"ReturnHalfLife", o.ReturnHalfLife}, {"HistoryHalfLife", o.HistoryHalfLife}} {
		if d.is <= 0 {
			return &option.Error{Package: "spotrisk", Option: d.name, Rule: "must be more than 0: start from DefaultOptions"}
		}
	}
	if !(o.UnknownRate >= 0 && o.UnknownRate < 1) {
		return &option.Error{Package: "spotrisk", Option: "UnknownRate", Rule: "must be at least 0 and below 1"}
	}
	for _, n := range []struct {
		name string
		is   float64
	}{{"PriorInterruptions", o.PriorInterruptions}, {"PriorLaunches", o.PriorLaunches}} {
		if !(n.is > 0) || math.IsInf(n.is, 0) {
			return &option.Error{Package: "spotrisk", Option: n.name, Rule: "must be more than 0: start from DefaultOptions"}
		}
	}
	return nil
}

// Loss is what the interruption of a node costs. The zero value is nothing. Start from DefaultLoss.
type Loss struct {
	// NodeLife is how long nodes live, as a rule: the time in which prices return to their level. 0 is the price of this moment.
	NodeLife time.Duration `json:"nodeLife,omitempty"`
	// Restart is for how long a node of the same kind is paid for that does no work: until its pods run again elsewhere.
	Restart time.Duration `json:"restart,omitempty"`
	// LostWork is how much work of the whole node has to be done once more.
	LostWork time.Duration `json:"lostWork,omitempty"`
	// Without is for how long the replacement is on demand where spot capacity can't be had.
	Without time.Duration `json:"without,omitempty"`
	// PerNode and PerCPU are further costs in USD: of each node, and of each of its vCPUs. What evictions of pods cost belongs here.
	PerNode float64 `json:"perNode,omitempty"`
	PerCPU  float64 `json:"perCPU,omitempty"`
}

// DefaultLoss is of services that are quick to restart: nodes live a day, pods run again after five minutes, no work is lost, and the
// replacement is on demand for an hour where spot capacity can't be had. These are estimates.
func DefaultLoss() Loss {
	return Loss{NodeLife: 24 * time.Hour, Restart: 5 * time.Minute, Without: time.Hour}
}

// Validate says what is wrong with the loss, with an option.Error, or nil if nothing is.
func (l Loss) Validate() error {
	for _, d := range []struct {
		name string
		is   time.Duration
	}{{"NodeLife", l.NodeLife}, {"Restart", l.Restart}, {"LostWork", l.LostWork}, {"Without", l.Without}} {
		if d.is < 0 || d.is > 365*24*time.Hour {
			return &option.Error{Package: "spotrisk", Option: d.name, Rule: "must be from 0 to a year"}
		}
	}
	if !(l.PerNode >= 0 && l.PerNode <= maxLoss) {
		return &option.Error{Package: "spotrisk", Option: "PerNode", Rule: "must be from 0 to 1000000 USD"}
	}
	if !(l.PerCPU >= 0 && l.PerCPU <= maxLoss) {
		return &option.Error{Package: "spotrisk", Option: "PerCPU", Rule: "must be from 0 to 1000000 USD"}
	}
	return nil
}

// maxLoss bounds what an interruption costs, USD.
const maxLoss = 1e6
