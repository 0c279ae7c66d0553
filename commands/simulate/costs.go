package simulate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/drawknife/drawknife/cloudprovider/commitments"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/discounts"
	"github.com/drawknife/drawknife/scheduling/fees"
)

// priceTerm is one line of the calculation of a price.
type priceTerm struct {
	Name    string  `json:"name"`
	Source  string  `json:"source"`
	Amount  float64 `json:"amount"`
	Covered float64 `json:"covered,omitempty"`
}

// commitmentUse is the part of a commitment that nodes use.
type commitmentUse struct {
	Name     string  `json:"name"`
	Source   string  `json:"source"`
	Unit     string  `json:"unit"`
	Amount   float64 `json:"amount"`
	Existing float64 `json:"existing"`
	Planned  float64 `json:"planned"`
	Saved    float64 `json:"saved"`
}

// readCostModel replaces the snapshot's cost model by the one of --cost-model.
func (s *simulation) readCostModel(snapshot *scheduling.Snapshot) error {
	if s.costModel == "" {
		return nil
	}
	s.progress.Enter("reading the cost model")
	file, err := os.Open(s.costModel)
	if err != nil {
		return fmt.Errorf("reading the cost model: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	if snapshot.CostModel, err = scheduling.DecodeCostModel(file); err != nil {
		return fmt.Errorf("reading the cost model %s: %w", s.costModel, err)
	}
	return nil
}

// newPriceTerms returns the lines of the calculation of a price, with amounts rounded like prices.
func newPriceTerms(terms []scheduling.PriceTerm) []priceTerm {
	var out []priceTerm
	for _, t := range terms {
		out = append(out, priceTerm{Name: t.Name, Source: t.Source, Amount: roundDollars(t.Amount), Covered: t.Covered})
	}
	return out
}

func newCommitmentUses(uses []scheduling.CommitmentUse) []commitmentUse {
	var out []commitmentUse
	for _, c := range uses {
		out = append(out, commitmentUse{
			Name: c.Name, Source: c.Source, Unit: c.Unit, Amount: c.Amount,
			Existing: roundDollars(c.Existing), Planned: roundDollars(c.Planned), Saved: roundDollars(c.Saved),
		})
	}
	return out
}

// termItems returns the terms of a price as text, such as "$0.39 list price", "-$0.39 reserved instances". It returns no items if there is
// only a list price.
func termItems(terms []scheduling.PriceTerm) []string {
	if len(terms) < 2 {
		return nil
	}
	var out []string
	for i, t := range terms {
		sign := "+"
		switch {
		case t.Amount < 0:
			sign = "-"
		case i == 0:
			sign = ""
		}
		out = append(out, sign+dollars(max(t.Amount, -t.Amount))+" "+t.Name)
	}
	return out
}

// writeCommitments shows how much existing nodes and new nodes use of the commitments of the cost model.
func (r textReport) writeCommitments(w io.Writer) {
	if len(r.plan.Commitments) == 0 {
		return
	}
	t := table{columns: []column{
		{title: "COMMITMENT"}, {title: "AMOUNT", right: true}, {title: "EXISTING", right: true}, {title: "NEW", right: true},
		{title: "IDLE", right: true}, {title: "UNIT"}, {title: "SAVED $/HOUR", right: true},
	}}
	for _, c := range r.plan.Commitments {
		line := row{cells: []string{
			c.Name, figure(c.Amount), figure(c.Existing), figure(c.Planned), figure(c.Amount - c.Existing - c.Planned), c.Unit,
			strings.TrimPrefix(dollars(c.Saved), "$"),
		}}
		if r.verbose {
			line.below = []string{c.Source}
		}
		t.rows = append(t.rows, line)
	}
	fmt.Fprintf(w, "\n%s\n", r.paint(bold, "Commitments"))
	t.write(w, r.canvas)
}

// figure returns an amount with at most four decimals.
func figure(x float64) string {
	text := fmt.Sprintf("%.4f", x)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// parseFees reads --fees.
func parseFees(text string) (fees.Choices, error) {
	choices, err := fees.Parse(text)
	return choices, ofFees(err)
}

// ofFees adds the name of the flag --fees to an error.
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

// addCosts adds costs to the snapshot: the cost model of --cost-model, the commitments of --commitments, the fees of --fees, and the terms
// of --spot-risk.
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

// addFees appends the fees of --fees to the terms of the cost model.
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

// addCommitments inserts the commitments and discounts of --commitments before the terms of the cost model, so that the fees of the cost
// model also apply to nodes that commitments cover. Nodes of the input use the commitments before new nodes. The file contains the use by
// instances outside the input.
func (s *simulation) addCommitments(snapshot *scheduling.Snapshot) error {
	if s.commitments == "" {
		return nil
	}
	s.progress.Enter("reading the commitments")
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

// remarkOnCommitments prints which commitments of the file the plan can't use, and why.
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
