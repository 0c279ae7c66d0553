package simulate

import (
	"fmt"
	"os"

	"github.com/drawknife/drawknife/cloudprovider/commitments"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/discounts"
)

// addCommitments puts the commitments and discounts of --commitments before the terms of the cost model, so that its fees are due for covered
// nodes, too. Nodes of the input use commitments first; the use by others is in the file.
func (s *simulation) addCommitments(snapshot *scheduling.Snapshot) error {
	if s.commitments == "" {
		return nil
	}
	s.progress.enter("reading the commitments")
	account, err := readCommitments(s.commitments)
	if err != nil {
		return err
	}
	shares := account.Available("", discounts.Use(account, snapshot), nil, snapshot.Time)
	terms, err := discounts.Terms(account, shares)
	if err != nil {
		return fmt.Errorf("--commitments %s: %w", s.commitments, err)
	}
	s.remarkOnCommitments(account, shares)
	model := &scheduling.CostModel{Terms: terms}
	if snapshot.CostModel != nil {
		model.Terms = append(model.Terms, snapshot.CostModel.Terms...)
	}
	snapshot.CostModel = model
	if err := model.Validate(); err != nil {
		return fmt.Errorf("--commitments %s: %w", s.commitments, err)
	}
	return nil
}

func readCommitments(name string) (*commitments.Account, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the commitments: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	account, err := commitments.Decode(file)
	if err != nil {
		return nil, fmt.Errorf("reading the commitments %s: %w", name, err)
	}
	return account, nil
}

// remarkOnCommitments notes which commitments of the file the plan can't count on, and why.
func (s *simulation) remarkOnCommitments(account *commitments.Account, shares []commitments.Share) {
	left := map[string]*commitments.Share{}
	for i := range shares {
		left[shares[i].ID] = &shares[i]
	}
	for i := range account.Commitments {
		c := &account.Commitments[i]
		switch share := left[c.ID]; {
		case share == nil:
			s.note("Commitments", "commitment %s ended at %s: it covers no node", c.ID, c.End.UTC().Format("2006-01-02T15:04:05Z"))
		case share.Available <= 0:
			s.note("Commitments", "instances outside of the input use all %s %s of commitment %s: it covers no node", figure(c.Amount), c.Unit, c.ID)
		}
	}
	for _, why := range account.LeftOut {
		s.note("Commitments", "%s", why)
	}
}
