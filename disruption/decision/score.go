package decision

import (
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Score is how a Balanced pool judges a command: what share of its cost the command saves for each share of its disruption
// that it causes.
type Score struct {
	Pool v1.PoolKey `json:"pool"`
	// Score is SavingsShare by DisruptionShare; 0 where nothing is saved. Threshold is what it takes.
	Score     float64 `json:"score"`
	Threshold float64 `json:"threshold"`
	// SavingsShare of what the pool's nodes cost together, DisruptionShare of what disrupting them all would, 0 to 1.
	SavingsShare    float64 `json:"savingsShare"`
	DisruptionShare float64 `json:"disruptionShare"`
}

// Approved reports whether the pool approves.
func (s Score) Approved() bool { return s.Score >= s.Threshold }

// String is a sentence for operators.
func (s Score) String() string {
	verb := "is below"
	if s.Approved() {
		verb = "reaches"
	}
	return fmt.Sprintf("score %.3f of nodepool %s %s %.3f (k=%g): %.2f%% of its cost saved for %.2f%% of its disruption",
		s.Score, s.Pool, verb, s.Threshold, 1/s.Threshold, 100*s.SavingsShare, 100*s.DisruptionShare)
}
