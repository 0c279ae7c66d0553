package spotrisk

import (
	"math"
	"time"

	"github.com/drawknife/drawknife/api/option"
)

// Month is the length of a month in rates of interruptions per month.
const Month = 730 * time.Hour

// Options of a market. Start from DefaultOptions. All defaults are estimates, as docs/spot.md says.
type Options struct {
	// LevelHalfLife is the age at which a price has half its weight in the level of prices. More than 0.
	LevelHalfLife time.Duration
	// ReturnHalfLife is the time after which the difference between a price and its level is halved. More than 0.
	ReturnHalfLife time.Duration
	// HistoryHalfLife is the age at which an interruption, a launch or the time that a node ran has half its weight. More than 0.
	HistoryHalfLife time.Duration
	// PriorInterruptions is how many interruptions of the cluster's own nodes have the same weight as the offering's InterruptionRate. More
	// than 0.
	PriorInterruptions float64
	// UnknownRate replaces a missing InterruptionRate: a share of nodes per month, at least 0 and below 1.
	UnknownRate float64
	// PriorLaunches is how many launches have the same weight as the assumed share of refused launches. More than 0.
	PriorLaunches float64
}

// DefaultOptions returns a LevelHalfLife of a week, a ReturnHalfLife of two days, and a HistoryHalfLife of 30 days. PriorInterruptions is
// 4, PriorLaunches is 5, and UnknownRate is 15 % per month.
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

// Loss is the cost of an interruption of a node. The zero value means that interruptions cost nothing. Start from DefaultLoss.
type Loss struct {
	// NodeLife is how long nodes usually live; the expected price is the average over this time. 0 means the present price.
	NodeLife time.Duration `json:"nodeLife,omitempty"`
	// Restart is the time for which a node of the same kind is paid for and does no work, until its pods run again elsewhere.
	Restart time.Duration `json:"restart,omitempty"`
	// LostWork is how much work of the whole node must be repeated.
	LostWork time.Duration `json:"lostWork,omitempty"`
	// Without is how long the replacement is an on-demand node if there is no spot capacity.
	Without time.Duration `json:"without,omitempty"`
	// PerNode and PerCPU are further costs of an interruption in USD, for each node and for each of its vCPUs. They include the cost of
	// evicting pods.
	PerNode float64 `json:"perNode,omitempty"`
	PerCPU  float64 `json:"perCPU,omitempty"`
}

// DefaultLoss is for services that restart quickly: nodes live a day, pods run again after five minutes, no work is lost, and the
// replacement is an on-demand node for an hour if there is no spot capacity. These are estimates.
func DefaultLoss() Loss {
	return Loss{NodeLife: 24 * time.Hour, Restart: 5 * time.Minute, Without: time.Hour}
}

// Validate returns an option.Error for the first invalid field of the loss, or nil if there is none.
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

// maxLoss is the largest cost of an interruption, in USD, that the options PerNode and PerCPU may state.
const maxLoss = 1e6
