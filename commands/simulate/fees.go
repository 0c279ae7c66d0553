package simulate

import (
	"errors"
	"fmt"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/fees"
)

// parseFees reads --fees.
func parseFees(text string) (fees.Choices, error) {
	choices, err := fees.Parse(text)
	return choices, ofFees(err)
}

// ofFees names the flag in an error.
func ofFees(err error) error {
	var wrong *fees.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return fmt.Errorf("--fees: %w", err)
	case wrong.Item == "":
		return fmt.Errorf("--fees: %s", wrong.Rule)
	}
	return fmt.Errorf("--fees %s: %s", wrong.Item, wrong.Rule)
}

// addCosts gives the snapshot the cost model of --cost-model, the commitments of --commitments, the fees of --fees, and what --spot-risk
// counts.
func (s *simulation) addCosts(snapshot *scheduling.Snapshot) error {
	if err := s.readCostModel(snapshot); err != nil {
		return err
	}
	if err := s.addCommitments(snapshot); err != nil {
		return err
	}
	if err := s.addFees(snapshot); err != nil {
		return err
	}
	return s.addSpotRisk(snapshot)
}

// addFees puts the fees of --fees after the terms of the cost model.
func (s *simulation) addFees(snapshot *scheduling.Snapshot) error {
	if err := s.fees.Check(snapshot); err != nil {
		return ofFees(err)
	}
	model, err := s.fees.AddTo(snapshot.CostModel, snapshot)
	if err != nil {
		return ofFees(err)
	}
	snapshot.CostModel = model
	return nil
}
