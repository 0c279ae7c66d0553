package decision

import (
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Score is the rating of a command for a pool with the policy Balanced: the share of the pool's cost that the command saves, divided by the
// share of the pool's disruption that it causes.
type Score struct {
	Pool v1.PoolKey `json:"pool"`
	// Score is SavingsShare divided by DisruptionShare; 0 if nothing is saved. Threshold is the minimum score.
	Score     float64 `json:"score"`
	Threshold float64 `json:"threshold"`
	// SavingsShare is the saving as a share of the cost of all nodes of the pool. DisruptionShare is the command's disruption as a share of
	// the disruption of all these nodes. Both are from 0 to 1.
	SavingsShare    float64 `json:"savingsShare"`
	DisruptionShare float64 `json:"disruptionShare"`
}

// Approved reports whether the score is high enough for the pool.
func (s Score) Approved() bool { return s.Score >= s.Threshold }

// String returns a sentence for operators.
func (s Score) String() string {
	verb := "is below"
	if s.Approved() {
		verb = "reaches"
	}
	return fmt.Sprintf("score %.3f of nodepool %s %s %.3f (k=%g): %.2f%% of its cost saved for %.2f%% of its disruption",
		s.Score, s.Pool, verb, s.Threshold, 1/s.Threshold, 100*s.SavingsShare, 100*s.DisruptionShare)
}
