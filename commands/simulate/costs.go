package simulate

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/drawknife/drawknife/scheduling"
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

// readCostModel gives the snapshot the cost model of --cost-model, instead of its own.
func (s *simulation) readCostModel(snapshot *scheduling.Snapshot) error {
	if s.costModel == "" {
		return nil
	}
	s.progress.enter("reading the cost model")
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

// termItems returns the terms of a price as text, such as "$0.39 list price", "-$0.39 reserved instances"; it returns none if there is only
// a list price.
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

// writeCommitments shows how much of the commitments of the cost model is used, and for which nodes.
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

// figure writes an amount with at most four decimals.
func figure(x float64) string {
	text := fmt.Sprintf("%.4f", x)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}
